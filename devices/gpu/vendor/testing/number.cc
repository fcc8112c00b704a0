// A shared object with one function: dovetail_number() returns NUMBER.

extern "C" int dovetail_number();
extern "C" int dovetail_number() { return NUMBER; }
