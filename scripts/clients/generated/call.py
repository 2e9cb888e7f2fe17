"""Calls the service with what openapi-generator wrote of the VM contract, as it wrote it.

    python3 call.py URL TOKEN

Reads the capacity, previews a node more, and is told why a write is refused.
"""

import json
import sys

import bourse_vm

url, token = sys.argv[1:]
configuration = bourse_vm.Configuration(host=url, access_token=token)
with bourse_vm.ApiClient(configuration) as client:
    capacity = bourse_vm.CapacityApi(client)
    state = capacity.read_capacity()
    assert state.pool.reserve_price_per_gpu_hour > 0, state
    declaration = bourse_vm.CapacityDeclaration(
        max_gpus=state.gpus_per_node,
        max_price_per_gpu_hour=state.max_price_cap_per_gpu_hour,
        expected_version=state.version,
    )
    preview = capacity.preview_capacity(declaration)
    assert preview.would_refuse is not None and preview.would_refuse.error == "no-ssh-keys", preview
    declaration.expected_version = state.version + 7
    try:
        capacity.declare_capacity(declaration)
        raise AssertionError("a version that is not there was accepted")
    except bourse_vm.ApiException as refused:
        assert refused.status == 409, refused
        error = bourse_vm.ApiError.from_dict(json.loads(refused.body))
        assert error.error == bourse_vm.ErrorCode.VERSION_MINUS_MISMATCH, error
    print(f"{state.cluster} of pool {state.pool.pool} stands at version {state.version}")
