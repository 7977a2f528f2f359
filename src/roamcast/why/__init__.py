"""Explain from the facts why an event was not delivered or a request not satisfied.

`causes` lists the causes. `proofs` finds those that movement and outages prove for any protocol.
`dissemination` infers the others, with a module for each way in which a protocol forwards events; `trail`
indexes the facts for both. `explainer` and `request_explainer` apply them in turn, and `presentation` words
and counts the results.
"""
