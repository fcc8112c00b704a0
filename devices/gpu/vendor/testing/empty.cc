// A shared object without functions, like a broken installation of a driver.
