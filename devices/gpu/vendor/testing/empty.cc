// A shared object of no functions: what a broken installation of a driver looks like.
