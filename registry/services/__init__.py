"""Use cases: register, check, emit, amend. They own the ports; stores and blobs implement them."""
