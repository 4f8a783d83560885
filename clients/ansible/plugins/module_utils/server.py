"""What all modules share."""

from __future__ import annotations

import traceback

from ansible.module_utils.basic import AnsibleModule, env_fallback, missing_required_lib

try:
    import berth

    MISSING = None
except ImportError:
    MISSING = traceback.format_exc()

SERVER_ARGUMENTS = {
    "url": {"type": "str", "default": "http://127.0.0.1:8080", "fallback": (env_fallback, ["BERTH_URL"])},
    "token": {"type": "str", "required": True, "no_log": True, "fallback": (env_fallback, ["BERTH_TOKEN"])},
}


def run(module: AnsibleModule, work) -> None:
    """Ends the module with what `work` returns; errors of the client fail it with the server's sentence."""
    if MISSING:
        module.fail_json(msg=missing_required_lib("berth"), exception=MISSING)
    try:
        with berth.Berth(base_url=module.params["url"], token=module.params["token"]) as client:
            result = work(module, client)
    except (berth.BerthError, ValueError) as error:
        module.fail_json(msg=str(error), code=getattr(error, "code", None), request_id=getattr(error, "request_id", None))
    module.exit_json(**result)
