"""Rules for //:install: what an installed Dovetail consists of.

    install_component(name = "copy", components = [":dovetail"], deps = ["//:copy"])
    install_files(name = "files", components = [":dovetail", ":copy"])

A component is a CMake target, dovetail::copy, with a static library of its own if it has objects. Headers, objects, flags
and definitions are those of its `deps`, as the build has them. install_files makes the static libraries and files.json, which
install.py reads.
"""

load("@rules_cc//cc/common:cc_common.bzl", "cc_common")
load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")

_ComponentInfo = provider(
    doc = "One component.",
    fields = {
        "before": "list of the names of all components that it needs, and that these need",
        "cc": "CcInfo of its libraries",
        "components": "list of the names of the components that it needs itself",
        "headers": "list of the public headers of its libraries",
        "name": "str",
    },
)

# bazel/cc.bzl gives each library a folder of links to its headers.
_LINKS = "/_virtual_includes/"

def _install_component_impl(ctx):
    needed = [component[_ComponentInfo] for component in ctx.attr.components]
    return [_ComponentInfo(
        before = depset([c.name for c in needed] + [name for c in needed for name in c.before]).to_list(),
        cc = cc_common.merge_cc_infos(cc_infos = [dep[CcInfo] for dep in ctx.attr.deps]),
        components = [c.name for c in needed],
        headers = [h for dep in ctx.attr.deps for h in dep[CcInfo].compilation_context.direct_public_headers],
        name = ctx.label.name,
    )]

install_component = rule(
    implementation = _install_component_impl,
    attrs = {
        "components": attr.label_list(doc = "the components that it needs", providers = [_ComponentInfo]),
        "deps": attr.label_list(doc = "its libraries", mandatory = True, providers = [CcInfo]),
    },
)

def _include_names(contexts):
    """A dict from the names by which programs include headers to the headers."""
    names = {}
    for context in contexts:
        folders = depset(transitive = [context.includes, context.system_includes, context.quote_includes]).to_list()
        folders = [folder + "/" for folder in folders if folder != "." and _LINKS not in folder]
        for header in context.headers.to_list():
            _, is_link, after = header.path.partition(_LINKS)
            if is_link:
                names[after.partition("/")[2]] = header  # after the library's name
                continue
            for folder in folders:
                # (Not what the build makes, of which the first folders are parts of another path.)
                if header.path.startswith(folder) and header.owner.workspace_name:
                    names[header.path[len(folder):]] = header
    return names

def _owner(users, components):
    """The name of the component whose static library has what `users`, all that link it, need."""
    names = [user.name for user in users]
    lowest = [user for user in users if not [name for name in user.before if name in names]]

    # What unrelated components need is in the static library of the first one, which they all need.
    return lowest[0].name if len(lowest) == 1 else components[0].name

def _linked(components, own):
    """A dict from the names of components, and "abseil", to a struct of their libraries, objects and flags."""
    users = {}
    inputs = {}
    for component in components:
        for linked in component.cc.linking_context.linker_inputs.to_list():
            key = str(linked.owner)
            inputs[key] = inputs.get(key, []) + [linked]
            users[key] = users.get(key, []) + [component]
    parts = {
        name: struct(always = {}, flags = {}, libraries = {}, objects = {})
        for name in [component.name for component in components] + ["abseil"]
    }
    for key, all_linked in inputs.items():
        is_own = all_linked[0].owner.workspace_name == own
        part = parts[_owner(users[key], components) if is_own else "abseil"]
        for linked in all_linked:
            part.flags.update([(flag, None) for flag in linked.user_link_flags])
            for library in linked.libraries:
                part.libraries[linked.owner.name] = None
                objects = library.pic_objects
                if not objects:
                    fail("%s has no position-independent objects: build with --force_pic" % key)
                part.objects.update([(object, None) for object in objects])
                if library.alwayslink:
                    part.always.update([(object, None) for object in objects])
    return parts

# Arguments: nm, the file to write, objects. Writes the name of a function of each object: it has the linker take the object.
_NAME_OF_EACH = """
set -eu
nm=$1 out=$2
shift 2
for object in "$@"; do
  names=$("$nm" --extern-only --defined-only "$object")
  name=$(awk '$2 == "T" && !found { print $3; found = 1 }' <<<"$names")
  [ -n "$name" ] || { echo "$object defines no function" >&2; exit 1; }
  echo "$name"
done >"$out"
"""

def _archive(ctx, toolchain, name, objects):
    archive = ctx.actions.declare_file("lib/lib%s.a" % name)
    arguments = ctx.actions.args().add_all(objects)
    arguments.use_param_file("@%s", use_always = True)
    arguments.set_param_file_format("multiline")
    ctx.actions.run(
        outputs = [archive],
        inputs = depset(objects, transitive = [toolchain.all_files]),
        executable = toolchain.ar_executable,
        arguments = ["qcsD", archive.path, arguments],
        mnemonic = "InstalledArchive",
    )
    return archive

def _always(ctx, toolchain, name, objects):
    names = ctx.actions.declare_file("lib/%s.always" % name)
    ctx.actions.run_shell(
        outputs = [names],
        inputs = depset(objects, transitive = [toolchain.all_files]),
        command = _NAME_OF_EACH,
        arguments = [toolchain.nm_executable, names.path] + [object.path for object in objects],
        mnemonic = "InstalledAlwayslink",
    )
    return names

def _install_files_impl(ctx):
    components = [component[_ComponentInfo] for component in ctx.attr.components]
    toolchain = ctx.attr._toolchain[cc_common.CcToolchainInfo]
    parts = _linked(components, ctx.label.workspace_name)
    headers = _include_names([component.cc.compilation_context for component in components])
    names_of = {header.path: name for name, header in headers.items()}

    files = []
    described = []
    abseil = _ComponentInfo(before = [], cc = CcInfo(), components = [], headers = [], name = "abseil")
    for component in [abseil] + components:
        part = parts[component.name]
        library = component.name if component.name == "dovetail" else "dovetail_" + component.name
        archive = _archive(ctx, toolchain, library, part.objects.keys()) if part.objects else None
        always = _always(ctx, toolchain, library, part.always.keys()) if part.always else None
        files += [file for file in [archive, always] if file]
        described.append({
            "always": always.short_path if always else "",
            "archive": archive.short_path if archive else "",
            "components": component.components or (["abseil"] if component != abseil else []),
            "defines": component.cc.compilation_context.defines.to_list(),
            "flags": part.flags.keys(),
            "headers": [names_of[header.path] for header in component.headers if header.path in names_of],
            "name": component.name,
        })

    description = ctx.actions.declare_file("files.json")
    ctx.actions.write(description, json.encode({
        "abseil": parts["abseil"].libraries.keys(),
        "components": described,
        "headers": {name: header.short_path for name, header in headers.items()},
        "version": ctx.attr.version,
    }))
    files += [description] + headers.values()
    return [DefaultInfo(files = depset(files), runfiles = ctx.runfiles(files))]

# The first component is the one that all others need.
install_files = rule(
    implementation = _install_files_impl,
    attrs = {
        "components": attr.label_list(mandatory = True, providers = [_ComponentInfo]),
        "version": attr.string(mandatory = True),
        "_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
    },
    toolchains = ["@bazel_tools//tools/cpp:toolchain_type"],
)
