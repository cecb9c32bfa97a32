"""A program may send a request twice under one `Idempotency-Key`; it is done once. (draft-ietf-httpapi-idempotency-key-header)"""
