"""The functions and results of `import roamcast`: run, compare, campaigns."""
