import os

if "BERTH_TOKEN" not in os.environ:
    raise RuntimeError("BERTH_URL and BERTH_TOKEN must name a Berth with simulated hosts: `npm run test:clients` starts one")
