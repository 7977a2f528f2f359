"""How strong are the tests? Small faults are put into the code, and the fast tests must notice them."""
