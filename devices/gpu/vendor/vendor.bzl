"""The targets of a GPU vendor's folder (devices/cuda, devices/rocm) and of its testing/ folder.

    gpu_vendor(name = "cuda", library = "driver", vendor = "cuda_vendor", types = ":driver_types", …)
"""

load("//bazel:cc.bzl", "dovetail_cc_binary", "dovetail_cc_library", "dovetail_cc_test")

def gpu_vendor(name, library, vendor, types, kernels, deps = []):
    """The runtime and the backend of a vendor.

    Makes `runtime`, which fills RuntimeApi from the vendor's library, and `name`, the public backend.

    Args:
      name: the backend's: cuda.
      library: the file, without .cc and .h, with the class that opens the vendor's library.
      vendor: the header, without .h, with the vendor's struct of names.
      types: label of what declares the types of the vendor's library.
      kernels: label of the rule that embeds the kernels.
      deps: what else the runtime needs.
    """
    dovetail_cc_library(
        name = "kernels_data",
        hdrs = [kernels],
        visibility = ["//visibility:private"],
    )
    dovetail_cc_library(
        name = vendor,
        hdrs = [vendor + ".h", library + ".h", "symbols.inc"],
        visibility = ["//visibility:private"],
        deps = [
            "//core:config",
            "//devices/gpu/runtime:runtime_api",
            "//devices/gpu/vendor",
            "//devices/gpu/vendor:result_codes",
            types,
        ],
    )
    dovetail_cc_library(
        name = "runtime",
        srcs = [library + ".cc", "runtime.cc"],
        hdrs = ["runtime.h"],
        deps = [
            ":kernels_data",
            ":" + vendor,
            "//core:config",
            "//devices/gpu/runtime:runtime_api",
            "//devices/gpu/runtime:vendor_traits",
            "//devices/gpu/vendor",
            "@com_google_absl//absl/strings",
        ] + deps,
    )

    # @dovetail//devices/<name>: the function that registers the backend.
    dovetail_cc_library(
        name = name,
        srcs = ["backend.cc"],
        hdrs = ["backend.h"],
        visibility = ["//visibility:public"],
        deps = [
            ":runtime",
            "//core:config",
            "//core:registry",
            "//devices/gpu:backend",
            "@com_google_absl//absl/status",
        ],
    )

def gpu_vendor_runtime_test(name, data, folders, env = {}):
    """Runs runtime_test.cc, with the shared suite, against stand-ins for the vendor's library.

    Args:
      name: the test's.
      data: labels of the stand-ins.
      folders: where the loader finds them, relative to the package's testing/ folder ("." for itself).
      env: the test's environment.
    """
    testing = native.package_name() + "/testing/"
    dovetail_cc_test(
        name = name,
        srcs = ["runtime_test.cc"],
        data = data,
        env = dict(env, LD_LIBRARY_PATH = ":".join([testing + folder for folder in folders])),
        deps = [
            ":runtime",
            "//devices/gpu/vendor/testing:runtime_suite",
        ],
    )

def gpu_vendor_fake(name, driver, version):
    """A shared object that stands in for a vendor's library and logs its calls.

    Args:
      name: its file, such as hip5/libamdhip64.so.5; the file's name is the soname.
      driver: label of the library's functions over a RuntimeApi.
      version: the library's, as the vendor numbers it.
    """
    exports = "//devices/gpu/vendor/testing/driver:exports.lds"
    dovetail_cc_binary(
        name = name,
        srcs = ["//devices/gpu/vendor/testing/driver:fake.cc"],
        copts = ["-DSTANDS_IN_FOR=%d" % version],
        linkopts = [
            "-Wl,-soname," + name.split("/")[-1],
            "-Wl,--version-script,$(location %s)" % exports,
        ],
        linkshared = True,
        deps = [
            driver,
            exports,
            "//devices/gpu/vendor/testing:fake_log",
            "//devices/gpu/vendor/testing/driver",
            "//devices/gpu/vendor/testing/driver:fixed_runtime",
        ],
    )

def gpu_vendor_load_tests(runtime, fakes, empty, cases, real = {}):
    """What a vendor's runtime says to people where its library can't be used, a test for each case.

    Args:
      runtime: label of the vendor's runtime.
      fakes: labels of the stand-ins.
      empty: file of a library without functions to make, such as empty/libcuda.so.1.
      cases: by name, the environment of each test; FOLDER is where the loader looks, relative to the package.
      real: as `cases`, for tests that meet the system's own library.
    """
    dovetail_cc_binary(
        name = empty,
        srcs = ["//devices/gpu/vendor/testing:empty.cc"],
        linkopts = ["-Wl,-soname," + empty.split("/")[-1]],
        linkshared = True,
    )
    dovetail_cc_library(
        name = "load_test_main",
        srcs = [
            "runtime_under_test.cc",
            "//devices/gpu/vendor/testing:load_test.cc",
        ],
        linkopts = ["-ldl"],
        deps = [
            runtime,
            "//devices/gpu/runtime:runtime_api",
            "@com_google_googletest//:gtest",
        ],
        alwayslink = True,
    )
    for name, env in cases.items():
        environment = dict(env, LD_LIBRARY_PATH = native.package_name() + "/" + env["FOLDER"])
        environment.pop("FOLDER")
        dovetail_cc_test(
            name = "load_%s_test" % name,
            srcs = [],
            data = fakes + [":" + empty],
            env = environment,
            deps = [":load_test_main"],
        )
    for name, env in real.items():
        dovetail_cc_test(
            name = "load_%s_test" % name,
            srcs = [],
            env = env,
            deps = [":load_test_main"],
        )

def gpu_vendor_copies_tests(runtime, fakes, cases):
    """Which copy of its library a vendor's runtime uses, a test for each case.

    Args:
      runtime: label of the vendor's runtime.
      fakes: labels of the stand-ins.
      cases: by name, the environment of each test (copies_test.cc); FOLDER is where the loader looks, relative to the
        package, as are the files.
    """
    folder = native.package_name() + "/"
    dovetail_cc_library(
        name = "copies_test_main",
        srcs = [
            "runtime_under_test.cc",
            "//devices/gpu/vendor/testing:copies_test.cc",
        ],
        linkopts = ["-ldl"],
        deps = [
            runtime,
            "//devices/gpu/runtime:runtime_api",
            "//devices/gpu/vendor/testing:fake_library",
            "@com_google_googletest//:gtest",
        ],
        alwayslink = True,
    )
    for name, env in cases.items():
        environment = {key: folder + value for key, value in env.items()}
        environment["LD_LIBRARY_PATH"] = environment.pop("FOLDER")
        dovetail_cc_test(
            name = "copies_%s_test" % name,
            srcs = [],
            data = fakes,
            env = environment,
            deps = [":copies_test_main"],
        )
