# Dovetail's headers for extension modules and kernel libraries in C and C++. In a project's CMakeLists.txt:
#
#   find_package(dovetail CONFIG REQUIRED)
#   target_link_libraries(my_extension PRIVATE dovetail::python)  # an extension module
#   dovetail_add_kernels(kernels kernels.cc)                      # a kernel library: kernels.so
#
# scikit-build-core finds this file. Elsewhere, dovetail_DIR names its directory:
#
#   cmake -Ddovetail_DIR="$(python -m dovetail --cmakedir)" ...
#
# There is no library to link. Extension modules get Python's own headers from find_package(Python); kernel libraries need
# none.
cmake_policy(PUSH)
cmake_policy(VERSION 3.15...3.31)

set(dovetail_FOUND TRUE)
set(dovetail_NOT_FOUND_MESSAGE "")
foreach(_dovetail_component IN LISTS dovetail_FIND_COMPONENTS)
  set(dovetail_${_dovetail_component}_FOUND FALSE)
  if(_dovetail_component MATCHES "^(python|kernels)$")
    set(dovetail_${_dovetail_component}_FOUND TRUE)
  elseif(dovetail_FIND_REQUIRED_${_dovetail_component})
    set(dovetail_FOUND FALSE)
    string(APPEND dovetail_NOT_FOUND_MESSAGE
      "Dovetail's Python package has no component ${_dovetail_component}. For the C++ components, install Dovetail by "
      "`./bazelw run //:install -- PREFIX` and set dovetail_DIR to PREFIX/lib/cmake/dovetail (docs/cmake.md). ")
  endif()
endforeach()
if(NOT dovetail_FOUND)
  cmake_policy(POP)
  return()
endif()

if(NOT TARGET dovetail::python)
  add_library(dovetail::python INTERFACE IMPORTED)
  get_filename_component(_dovetail_package "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
  set_target_properties(dovetail::python PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${_dovetail_package}/include")
  unset(_dovetail_package)
endif()

if(NOT TARGET dovetail::kernels)
  # What dovetail_add_kernels() links: the headers, and the list of what a kernel library exports.
  add_library(dovetail::kernels INTERFACE IMPORTED)
  set_target_properties(dovetail::kernels PROPERTIES
    INTERFACE_COMPILE_FEATURES cxx_std_20
    INTERFACE_LINK_DEPENDS "${CMAKE_CURRENT_LIST_DIR}/kernels.lds"
    INTERFACE_LINK_LIBRARIES dovetail::python
    INTERFACE_LINK_OPTIONS "LINKER:--version-script=${CMAKE_CURRENT_LIST_DIR}/kernels.lds")
endif()

# dovetail_add_kernels(<name> <source>...)
#
# Makes <name>.so, which dovetail.load_kernels() loads, from C++ files that include dovetail/kernels.h, and from .cu files if
# the project has the language CUDA. It is a target as those of add_library(MODULE), for target_link_libraries(), install() and
# others.
function(dovetail_add_kernels name)
  add_library(${name} MODULE ${ARGN})
  set_target_properties(${name} PROPERTIES
    CUDA_STANDARD 20
    CUDA_STANDARD_REQUIRED ON
    CUDA_VISIBILITY_PRESET hidden
    CXX_VISIBILITY_PRESET hidden
    POSITION_INDEPENDENT_CODE ON
    PREFIX ""
    SUFFIX ".so"
    VISIBILITY_INLINES_HIDDEN ON)
  target_link_libraries(${name} PRIVATE dovetail::kernels)
endfunction()

cmake_policy(POP)
