"""`python -m dovetail doctor`: what is installed, what is wrong with it, and how to mend it.

Each check is a function in a file of its own and returns a list of Finding. Libraries, Dovetail
among them, are imported in child processes only, so that a broken one is a finding and not the end
of the doctor. `python …/dovetail/doctor` runs it where `import dovetail` fails.
"""
