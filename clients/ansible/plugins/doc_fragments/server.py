class ModuleDocFragment:
    DOCUMENTATION = """
options:
  url:
    description: URL of the server.
    type: str
    default: http://127.0.0.1:8080
  token:
    description: An API token, C(vmk_…), created in the dashboard under Settings, API Keys.
    type: str
    required: true
requirements:
  - berth (Python package)
"""
