"""`make prove`: try to break every promise of Candor, and write down what was found.

    python -m tests.services python -m tests.prove --quick

A proof is a promise with the tests and measurements that could find it broken, and with controls: the same checks on something that was
broken on purpose. `proofs.py` is the list.
"""
