# Dovetail's headers for extension modules in C and C++. In a project's CMakeLists.txt:
#
#   find_package(dovetail CONFIG REQUIRED)
#   target_link_libraries(my_extension PRIVATE dovetail::python)
#
# scikit-build-core finds this file. Elsewhere, dovetail_DIR names its directory:
#
#   cmake -Ddovetail_DIR="$(python -m dovetail --cmakedir)" ...
#
# There is no library to link. Python's own headers come from find_package(Python).
cmake_minimum_required(VERSION 3.15...3.31)

if(NOT TARGET dovetail::python)
  add_library(dovetail::python INTERFACE IMPORTED)
  get_filename_component(_dovetail_package "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
  set_target_properties(dovetail::python PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${_dovetail_package}/include")
  unset(_dovetail_package)
endif()
