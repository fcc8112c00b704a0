"""The forms of a report: a table for the terminal, JSON, JUnit XML, a table for Markdown,
a page of HTML.

Each is a function of a list of results.Report that returns text.
"""
