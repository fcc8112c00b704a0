"""OpenCV's core module, as @opencv: Debian's packages. Only this repository's tests, examples and benchmarks use it."""

load("//third_party/debian:package.bzl", "debian_packages")

# The libraries stand in one tree with what they need at run time and a minimal Debian may lack.
_BUILD = """load("@rules_cc//cc:defs.bzl", "cc_library")

cc_library(
    name = "opencv",
    srcs = glob(
        ["root/usr/lib/x86_64-linux-gnu/**/*.so.*"],
        exclude = ["**/*.so.*.*"],
    ),
    hdrs = glob(["root/usr/include/opencv4/**"]),
    includes = ["root/usr/include/opencv4"],
    visibility = ["//visibility:public"],
)
"""

def opencv(name):
    debian_packages(
        name = name,
        build = _BUILD,
        packages = {
            "libblas3": "9aae8058b8d02b800bdafc5b340614df1442a2d2abbc2d351947c0fdd67aa08a",
            "libbsd0": "bb31cc8b40f962a85b2cec970f7f79cc704a1ae4bad24257a822055404b2c60b",
            "libgfortran5": "63d38775d20c425c1f00914b52167ae0e3b4639facdb0aa734877279fb716fbb",
            "libglvnd0": "b6da5b153dd62d8b5e5fbe25242db1fc05c068707c365db49abda8c2427c75f8",
            "libglx0": "95f568df73dedf43ae66834a75502112e0d4f3ad7124f3dbfa790b739383b896",
            "liblapack3": "4cb4ba9c36ee0242d91c8bcd69286db59a6a0c86f8c522b72f5eb0053e127d7d",
            "libmd0": "03539fd30c509e27101d13a56e52eda9062bdf1aefe337c07ab56def25a13eab",
            "libopencv-core-dev": "34df79c399236d1a2e48fe0d2194aaa496f380bfa21bf15a2dc506acb823fd4b",
            "libopencv-core406": "69b3db57a5e9aa422808534a70016eda3a37b2b6a7c21630b7a013c67e9ff49f",
            "libquadmath0": "3f0c9a4c730da2fdab001cae596625438598fd2996d29d888feeb4c1cdc9011f",
            "libtbb12": "5665882b77b1e88154a0709a213500176d7cbb3e8aaeceffaeaf4cd35de18bce",
            "libx11-6": "d88c973e79fd9b65838d77624142952757e47a6eb1a58602acf0911cf35989f4",
            "libxau6": "679db1c4579ec7c61079adeaae8528adeb2e4bf5465baa6c56233b995d714750",
            "libxcb1": "fdc61332a3892168f3cc9cfa1fe9cf11a91dc3e0acacbc47cbc50ebaa234cc71",
            "libxdmcp6": "ecb8536f5fb34543b55bb9dc5f5b14c9dbb4150a7bddb3f2287b7cab6e9d25ef",
        },
    )
