"""A client written from the service's reference alone: walks every endpoint and judges each answer by the reference's
words. It uses Python's standard library and knows nothing else of the service.

walk.py URL TOKENS APPROVE

TOKENS is a JSON file:
  wide, bound, readonly  API tokens of one organization with several VM clusters, all scopes but for the last
  doomed                 another one, which the walk revokes
  other                  an API token of another organization
  alice, bob             members of that organization, which may not publish on the feed
  carol                  a member of an organization that may
  mcp                    alice's OAuth token for the MCP server
  cluster, static        the bound token's cluster; another one that operators manage
APPROVE is a command that approves the review of the checkpoint whose id is appended.
"""

import base64
import hashlib
import json
import os
import re
import subprocess
import sys
import time
import traceback
import urllib.error
import urllib.parse
import urllib.request

URL, TOKENS, APPROVE = sys.argv[1], json.load(open(sys.argv[2])), sys.argv[3]
RFC3339 = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")
#: Seconds; more where several parts of scripts/smoke run at once.
DEADLINE = 60 * int(os.environ.get("SMOKE_PATIENCE", "1"))
#: The write cadence of the service that is walked, in seconds.
CADENCE = 1.0

checks = 0
failures = []


def check(holds, rule, seen=""):
    global checks
    checks += 1
    if not holds:
        failures.append(f"{rule}; seen: {str(seen)[:600]}")


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    @property
    def json(self):
        try:
            return json.loads(self.body)
        except ValueError:
            return {}

    def __str__(self):
        return f"{self.status} {self.body[:500]!r}"


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


opener = urllib.request.build_opener(NoRedirect)


def call(method, path, token=None, body=None, data=None, **headers):
    """One request. A write that comes too early for its cluster's cadence is sent again when the answer says so."""
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    if token:
        headers["Authorization"] = "Bearer " + token
    if body is not None:
        headers["Content-Type"] = "application/json"
        data = json.dumps(body).encode()
    url = path if path.startswith("http") else URL + path
    request = urllib.request.Request(url, data=data, headers=headers, method=method)
    try:
        with opener.open(request, timeout=DEADLINE) as answer:
            return Answer(answer.status, answer.headers, answer.read())
    except urllib.error.HTTPError as refusal:
        return Answer(refusal.code, refusal.headers, refusal.read())


def patient(*arguments, **named):
    while True:
        answer = call(*arguments, **named)
        if answer.status != 429:
            return answer
        time.sleep(int(answer.headers["Retry-After"]))


def refused(answer, status, code, rule, **extras):
    error = answer.json
    holds = answer.status == status and (code is None or error.get("error") == code)
    holds = holds and isinstance(error.get("error"), str) and isinstance(error.get("detail", ""), str)
    check(holds and all(error.get(name) == value for name, value in extras.items()), rule, answer)
    return error


def until(what, condition):
    end = time.time() + DEADLINE
    while not condition():
        if time.time() > end:
            check(False, f"within {DEADLINE} s: {what}")
            return
        time.sleep(0.3)


def is_time(value):
    return isinstance(value, str) and RFC3339.fullmatch(value) is not None


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def is_integer(value):
    return isinstance(value, int) and not isinstance(value, bool)


def nullable(kind):
    return lambda value: value is None or kind(value)


def among(*values):
    return lambda value: value in values


def of(*kinds):
    return lambda value: isinstance(value, kinds)


TEXT, FLAG, LIST, OBJECT = of(str), of(bool), of(list), of(dict)


def shape(value, where, **fields):
    check(isinstance(value, dict), f"{where} is an object", value)
    for name, kind in fields.items() if isinstance(value, dict) else ():
        check(name in value and kind(value[name]), f"{where} has {name} as stated", value)


WIDE, BOUND, READONLY = TOKENS["wide"], TOKENS["bound"], TOKENS["readonly"]
ALICE, BOB, CAROL, CLUSTER = TOKENS["alice"], TOKENS["bob"], TOKENS["carol"], TOKENS["cluster"]


def orientation():
    for name in ("vm", "k8s", "market", "billing", "org"):
        contract = call("GET", f"/api/{name}/openapi.json")
        is_contract = str(contract.json.get("openapi")).startswith("3.1")
        check(contract.status == 200 and is_contract, f"contract {name} without authentication, OpenAPI 3.1", contract)
    for path in ("/llms.txt", "/AGENTS.md"):
        check(call("GET", path).status == 200, f"{path} is served without authentication")
    for token in (None, "x", "brs_AAAAAAAAAAAA_" + "0" * 38):
        refused(call("GET", "/api/whoami", token), 401, "unauthorized", "missing or unknown token")
    me = call("GET", "/api/whoami", WIDE).json
    shape(me, "whoami", org_id=TEXT, org_kind=among("standard", "public_research"), scopes=LIST, clusters=LIST)
    for cluster in me["clusters"]:
        shape(cluster, "whoami's cluster", name=TEXT, kind=TEXT, gpu_vendor=TEXT, gpu_model=nullable(TEXT))
    check(CLUSTER in [one["name"] for one in me["clusters"]], "whoami tells every addressable cluster", me)
    return me["org_id"]


def capacity(token=BOUND, query=""):
    state = call("GET", "/api/vm/capacity" + query, token)
    check(state.status == 200, "a capacity read answers 200", state)
    state = state.json
    shape(
        state, "capacity", cluster=TEXT, version=is_integer, writes_armed=FLAG, gpus_per_node=is_integer,
        gpu_vendor=TEXT, gpu_model=nullable(TEXT), max_price_cap_per_gpu_hour=is_number, declared=nullable(OBJECT),
        pending=is_integer, allocations=LIST, planned_release=LIST, nominations=LIST, swaps=LIST,
        billing_hold=nullable(OBJECT), spend_limit_enforced=FLAG, billing_hold_enforced=FLAG, environment=OBJECT,
    )
    if state.get("declared"):
        shape(
            state["declared"], "declared", max_price_per_gpu_hour=is_number, max_gpus=is_integer, bid_too_low=FLAG,
            capacity_unavailable=nullable(FLAG), updated_at=is_time, updated_by=TEXT,
        )
    for one in state["allocations"]:
        shape(
            one, "an allocation", public_ip=nullable(TEXT), granted_at=is_time, slot=is_integer, swap=FLAG,
            state=among("provisioning", "active", "reclaiming"),
        )
    return state


def active():
    return [one["public_ip"] for one in capacity()["allocations"] if one["state"] == "active"]


def declare(token=BOUND, **body):
    return call("PUT", "/api/vm/capacity", token, body)


def raised(gpus, price, **more):
    return patient(
        "PUT", "/api/vm/capacity", BOUND,
        dict(max_gpus=gpus, max_price_per_gpu_hour=price, expected_version=capacity()["version"], **more),
    )


def write_twice(gpus):
    """Writes the same twice, and returns the second answer. Where a busy machine has let the cadence pass between the
    two, the second may be accepted and shows nothing: then both are sent once more."""
    for _ in range(20):
        began = time.monotonic()
        first = raised(gpus, 3.5)
        check(first.status == 200, "a write that waits for the cadence is accepted", first)
        second = declare(max_gpus=gpus, max_price_per_gpu_hour=3.5, expected_version=capacity()["version"])
        if second.status != 200 or time.monotonic() - began < CADENCE:
            break
    return second


def keys(org):
    path = f"/api/vm/orgs/{org}/ssh-keys"
    kind = b"ssh-ed25519"
    blob = len(kind).to_bytes(4, "big") + kind + (32).to_bytes(4, "big") + hashlib.sha256(URL.encode()).digest()
    line = f"ssh-ed25519 {base64.b64encode(blob).decode()} walk"
    made = call("POST", path, BOUND, {"name": "walk", "public_key": line})
    check(made.status in (200, 201) and made.json.get("key_id"), "a key is registered and has an id", made)
    listed = call("GET", path, READONLY)
    check(listed.status == 200 and b"walk" in listed.body, "any valid token lists the organization's keys", listed)
    check(call("GET", path, TOKENS["other"]).status >= 400, "another organization's keys are not served")
    return made.json.get("key_id")


def refusals(step, cap):
    version = capacity()["version"]
    order = {"max_gpus": step, "max_price_per_gpu_hour": 2, "expected_version": version}
    for change, status, code, rule in (
        ({"max_gpus": step + 1}, 422, None, "max_gpus no multiple of gpus_per_node"),
        ({"max_price_per_gpu_hour": 2.005}, 422, "price-precision", "more than two decimals"),
        ({"max_price_per_gpu_hour": 0.01}, 422, "bid-too-low", "a price too low to ever clear"),
        ({"expected_version": version + 7}, 409, "version-mismatch", "expected_version is not the current version"),
        ({"release": ["192.0.2.1"]}, 409, "unknown-node", "an entry of release that is not held"),
        ({"max_gpus": "8"}, 422, "bad-request", "a malformed field"),
        ({"cluster": "x" * 500}, 404, "not-found", "an id of any length that names nothing"),
    ):
        refused(declare(**{**order, **change}), status, code, rule)
    above = {**order, "max_price_per_gpu_hour": cap + 1}
    refused(declare(**above), 422, "price-above-maximum", "above max_price_cap_per_gpu_hour", maximum=cap)
    refused(declare(READONLY, **order), 403, "forbidden", "PUT needs capacity:write")
    ambiguous = refused(declare(WIDE, **order), 409, "ambiguous-cluster", "an org-wide token must name the cluster")
    check("body" in ambiguous.get("detail", ""), "detail states exactly what failed: where the name goes", ambiguous)
    static = capacity(WIDE, "?cluster=" + TOKENS["static"])
    more = (static["declared"] or {"max_gpus": 0})["max_gpus"] + static["gpus_per_node"]
    order = dict(cluster=TOKENS["static"], max_gpus=more, max_price_per_gpu_hour=2, expected_version=static["version"])
    refused(declare(WIDE, **order), 409, "static-posture", "raising max_gpus on an operator-managed cluster")
    check(capacity()["version"] == version, "a refused write applies nothing")


def market(org):
    state = capacity()
    step, cap = state["gpus_per_node"], state["max_price_cap_per_gpu_hour"]
    check(state["declared"] is None, "declared is null until the first PUT", state)
    refused(raised(step, 2), 422, "no-ssh-keys", "max_gpus is raised while the key registry is empty")
    key = keys(org)
    refusals(step, cap)
    version = capacity()["version"]
    done = raised(2 * step, 3.5)
    check(done.status == 200, "a raise with a registered key is accepted", done)
    state = capacity()
    check(state["version"] == version + 1, "every accepted write increments version", state)
    declared = state["declared"]
    is_kept = (declared["max_gpus"], declared["max_price_per_gpu_hour"]) == (2 * step, 3.5)
    check(is_kept and declared["updated_by"].startswith("token:"), "declared is what was sent", declared)
    early = write_twice(2 * step)
    refused(early, 429, "rate-limited", "a write faster than the cadence")
    wait = early.json.get("retry_after_s")
    check(str(wait) == early.headers["Retry-After"], "retry_after_s is the figure of Retry-After", early)
    until("two nodes are active", lambda: len(active()) == 2)
    state = capacity()
    check(state["pending"] == 0, "pending is what open allocations do not cover", state)
    held = [one["public_ip"] for one in state["allocations"]]
    check(set(state["planned_release"]) == set(held), "planned_release is what a shrink would destroy", state)
    swap(held[0])
    release(step)
    lowered = patient("PUT", "/api/vm/capacity", BOUND, {"max_gpus": 0})
    check(lowered.status == 200, "lowering always works, a lowering alone without price and version", lowered)
    until("no node is held", lambda: not capacity()["allocations"])
    trails(step)
    gone = call("DELETE", f"/api/vm/orgs/{org}/ssh-keys/{key}", BOUND)
    check(gone.status == 200, "DELETE revokes a key", gone)


def swap(node):
    refused(call("POST", "/api/vm/capacity/swap", BOUND, {"node": "192.0.2.1"}), 409, "unknown-node", "a swap entry")
    first = patient("POST", "/api/vm/capacity/swap", BOUND, {"node": node})
    check(first.status == 200, "a swap answers 200", first)
    again = call("POST", "/api/vm/capacity/swap", BOUND, {"node": node})
    landed = node not in active()
    check(again.status == 200 or landed, "retrying the same node while it swaps is an idempotent 200", again)
    until("the swap actuates", lambda: node not in active() and len(active()) == 2)


def release(step):
    victim = active()[-1]
    nominated = raised(2 * step, 3.5, release=[victim])
    check(nominated.status == 200 and capacity()["nominations"] == [victim], "release sets nominations", nominated)
    kept = raised(2 * step, 3.5)
    check(capacity()["nominations"] == [victim], "release omitted keeps the current set", kept)
    cleared = raised(2 * step, 3.5, release=[])
    check(capacity()["nominations"] == [], "release [] clears all", cleared)
    survivor = active()[0]
    shrunk = raised(step, 3.5, release=[active()[1]])
    check(shrunk.status == 200, "a shrink with release is accepted", shrunk)
    until("the nominated node is gone", lambda: active() == [survivor])


def trails(step):
    page = call("GET", "/api/vm/activity?page=0", READONLY).json
    shape(page, "activity", entries=LIST, more=FLAG)
    check(0 < len(page["entries"]) <= 30, "30 entries per page", len(page["entries"]))
    for entry in page["entries"]:
        if entry.get("kind") == "request":
            shape(entry, "a request", actor=TEXT, max_gpus=is_integer, max_price_per_gpu_hour=is_number,
                  who=among("user", "system"))
        else:
            shape(entry, "an action", kind=among("action"), note=TEXT)
    mine = call("GET", "/api/vm/activity?who=user", READONLY).json["entries"]
    check(mine and all(one.get("who") == "user" for one in mine if one["kind"] == "request"), "who filters", mine)
    for query in ("who=nobody", "page=-1", "page=x"):
        refused(call("GET", "/api/vm/activity?" + query, BOUND), 422, "bad-request", "a bad paging parameter")
    for hours, width in (("0.5", 60), ("24", 216), ("2.4e1", 216), ("8760", 78840)):
        series = call("GET", "/api/vm/history?hours=" + hours, BOUND).json
        shape(series, "history", t0=is_integer, step=among(width))
        shape(series, "history", max_nodes=LIST, granted=LIST, max_price=LIST, price=LIST)
        lengths = {len(series[name]) for name in ("max_nodes", "granted", "max_price", "price")}
        check(len(lengths) == 1, "the series have one length", lengths)
        check(all(is_integer(count) for count in series["granted"]), "granted is never null", series["granted"])
        for ceiling, price in zip(series["max_price"], series["price"]):
            is_under = price is None or ceiling is None or price <= ceiling
            check(is_under, "the clearing rate is never above the ceiling", (ceiling, price))
    check(series["max_nodes"][-1] == 0, "max_nodes is max_gpus / gpus_per_node in force", series["max_nodes"][-1])
    for hours in ("0.4", "8761", "x"):
        refused(call("GET", "/api/vm/history?hours=" + hours, BOUND), 422, "bad-request", "hours is 0.5 to 8760")


def organization(org):
    roster = call("GET", "/api/org/members", BOUND).json
    shape(roster, "members", members=LIST, rules=LIST, invited=LIST)
    for one in roster["members"]:
        shape(one, "a member", username=TEXT, email=TEXT, name=TEXT, is_active=FLAG, last_login=nullable(is_time),
              role=among("admin"))
    for one in roster["rules"]:
        shape(one, "a join rule", id=TEXT, kind=among("domain", "email"), value=TEXT)
    answer = call("GET", "/api/org/tokens", WIDE)
    tokens = answer.json["tokens"]
    for one in tokens:
        shape(
            one, "a token", token_id=TEXT, name=TEXT, scopes=LIST, cluster=nullable(TEXT), created_by=TEXT,
            expires_at=nullable(is_time), created_at=is_time, last_used_at=nullable(is_time),
            revoked_at=nullable(is_time),
        )
    times = [one["created_at"] for one in tokens]
    check(times == sorted(times, reverse=True), "tokens are newest first", times)
    prefix, token_id, secret = WIDE.split("_")
    check(token_id in [one["token_id"] for one in tokens], "token_id is the middle segment", tokens)
    check(secret.encode() not in answer.body, "the secret is never returned")
    trail(org, token_id)
    revocation()


def trail(org, token_id):
    page = call("GET", "/api/org/activity", WIDE).json
    shape(page, "the organization's trail", org_id=among(org), entries=LIST, more=FLAG)
    for one in page["entries"]:
        shape(one, "an audit entry", id=is_integer, ts=is_time, actor=TEXT, action=TEXT, subject=TEXT, detail=TEXT)
    actions = {one["action"] for one in page["entries"]}
    check({"vm_capacity_put", "vm_key_add"} <= actions, "writes are always recorded", actions)
    check(not {"vm_capacity_get", "vm_keys_get"} & actions, "reads are hidden by default", actions)

    def has_reads():
        entries = call("GET", "/api/org/activity?reads=1&limit=500", WIDE).json["entries"]
        return {"vm_capacity_get", "vm_keys_get"} <= {one["action"] for one in entries}

    until("reads=1 shows the two recorded reads", has_reads)
    first = call("GET", "/api/org/activity?limit=2", WIDE).json
    second = call("GET", f"/api/org/activity?limit=2&before={first['entries'][-1]['id']}", WIDE).json
    ids = [one["id"] for one in first["entries"] + second["entries"]]
    check(first["more"] and ids == sorted(set(ids), reverse=True), "paging is by entry id, newest first", ids)
    clamped = call("GET", "/api/org/activity?limit=99999", WIDE)
    check(clamped.status == 200 and len(clamped.json["entries"]) <= 500, "limit is clamped to 500", clamped.status)
    own = call("GET", f"/api/org/tokens/{BOUND.split('_')[1]}/activity", WIDE).json
    actors = {one["actor"] for one in own["entries"]}
    check(actors == {"token:" + BOUND.split("_")[1]}, "a token's trail has its own calls", actors)
    check(call("GET", "/api/org/tokens/self/activity", WIDE).status == 200, "self means the calling token")
    unknown = call("GET", "/api/org/tokens/AAAAAAAAAAAA/activity", WIDE)
    foreign_id = TOKENS["other"].split("_")[1]
    foreign = call("GET", f"/api/org/tokens/{foreign_id}/activity", WIDE)
    refused(foreign, 404, "not-found", "a token_id outside the organization")
    same = foreign.body.replace(foreign_id.encode(), b"") == unknown.body.replace(b"AAAAAAAAAAAA", b"")
    check(same, "the same as an unknown id", (foreign, unknown))
    for query in ("limit=x", "before=x", "before=0", "before=-1", "reads=2", "reads=true"):
        for path in ("/api/org/activity?", f"/api/org/tokens/{token_id}/activity?"):
            refused(call("GET", path + query, WIDE), 422, "bad-request", "a bad trail parameter")


def revocation():
    doomed = TOKENS["doomed"].split("_")[1]
    done = call("DELETE", "/api/org/tokens/self", TOKENS["doomed"])
    shape(done.json, "the revocation", ok=among(True), token_id=among(doomed), revoked_at=is_time)
    refused(call("GET", "/api/whoami", TOKENS["doomed"]), 401, "unauthorized", "its next call after it revoked itself")
    entries = call("GET", "/api/org/activity", WIDE).json["entries"]
    rows = [one for one in entries if one["action"] == "vm_token_revoke"]
    check(rows and rows[0]["actor"] == "token:" + doomed, "the audit row has actor token:<id>", rows)
    rows = call("GET", "/api/org/tokens", WIDE).json["tokens"]
    check(any(one["token_id"] == doomed and one["revoked_at"] for one in rows), "revoked tokens stay listed", rows)


FAMILY = "/api/checkpoints"
CONTENT_HEADERS = {"X-Content-Type-Options": "nosniff", "Accept-Ranges": "bytes", "Cache-Control": "no-store"}


def facts(name, data, **more):
    usual = {"title": "Walk", "filename": name, "content_type": "text/plain", "bytes": len(data), "visibility": "org"}
    return {**usual, **more}


def item(value, **fields):
    shape(
        value, "a checkpoint", id=TEXT, title=TEXT, description=TEXT, filename=TEXT, content_type=TEXT,
        bytes=is_integer, sha256=nullable(TEXT), visibility=among("org", "public"), status=TEXT, status_detail=TEXT,
        publisher=OBJECT, revision=is_integer, published_at=nullable(is_time), created_at=is_time, urls=OBJECT,
    )
    shape(value.get("urls"), "urls", content=TEXT, download=TEXT)
    for name, expected in fields.items():
        check(value.get(name) == expected, f"a checkpoint's {name} is {expected}", value)
    return value


def publish(member, name, data, content_type="text/plain", **more):
    made = call("POST", FAMILY, member, facts(name, data, content_type=content_type, **more))
    check(made.status in (200, 201), "valid facts are accepted", made)
    made = made.json
    shape(made, "an announcement", id=TEXT, revision=is_integer, status=among("pending"), visibility=TEXT,
          replaced=FLAG, review=among("none", "required"), upload=among("direct"), content_url=TEXT)
    put = call("PUT", f"{FAMILY}/{made['id']}/content", member, data=data, Content_Type=content_type)
    check(put.status == 200, "the bytes of a direct upload answer the item", put)
    return item(put.json, id=made["id"], bytes=len(data), sha256=hashlib.sha256(data).hexdigest())


def checkpoints():
    listed = call("GET", FAMILY + "?scope=org", WIDE).json
    shape(listed, "the list", checkpoints=LIST, more=FLAG, public_publish=among(False), limit_bytes=is_integer)
    for scope in ("public", "all"):
        refused(call("GET", f"{FAMILY}?scope={scope}", ALICE), 422, "bad-request", "org is the only scope")
    data = b"some notes\n" * 100
    refused(call("POST", FAMILY, WIDE, facts("t.txt", data)), 403, "forbidden", "an API token may only read here")
    refused(call("POST", FAMILY, ALICE, facts("t.txt", data, visibility="public")), 403, "forbidden",
            "a public publish where the feed is not open", reason="public-restricted")
    for wrong in ({"title": "x" * 201}, {"description": "x" * 4001}, {"filename": "x" * 256}, {"bytes": "many"},
                  {"visibility": "all"}, {"replace": "true"}):
        announced = call("POST", FAMILY, ALICE, {**facts("t.txt", data), **wrong})
        refused(announced, 422, "bad-request", f"field {list(wrong)}")
    for size, way in ((32 * 2**20 + 1, "direct"), (50 * 2**30 + 1, "resumable")):
        big = {**facts("big.bin", data), "bytes": size, "upload": way}
        refused(call("POST", FAMILY, ALICE, big), 413, "too-large", f"over the cap of a {way} upload")
    first = publish(ALICE, "notes.txt", data, description=None)
    content = f"{FAMILY}/{first['id']}/content"
    check(item(call("GET", f"{FAMILY}/{first['id']}", WIDE).json)["status"] == "ready", "org files are at once there")
    read(content, WIDE, data)
    refused(call("POST", FAMILY, ALICE, facts("notes.txt", data, replace=False)), 409, "conflict",
            "replace false where one exists", reason="exists")
    second = publish(ALICE, "notes.txt", data + b"more")
    is_same = (second["id"], second["revision"]) == (first["id"], first["revision"] + 1)
    check(is_same, "the same file name replaces in place: id kept, revision advances", second)
    secret = b"-----BEGIN OPENSSH PRIVATE KEY-----\n" + b"b3BlbnNzaC1rZXktdjEAAAAA" * 9 + b"\n"
    made = call("POST", FAMILY, ALICE, facts("harmless.txt", secret)).json
    put = call("PUT", f"{FAMILY}/{made['id']}/content", ALICE, data=secret, Content_Type="text/plain")
    refused(put, 422, "secret-detected", "content that looks like a credential")
    check(call("GET", f"{FAMILY}/{made['id']}/content", ALICE).status >= 400, "nothing is stored of a credential")
    made = call("POST", FAMILY, ALICE, facts("digest.txt", data, sha256="0" * 64)).json
    path = f"{FAMILY}/{made['id']}"
    for body, reason in ((data, "sha-mismatch"), (data[1:], "size-mismatch")):
        put = call("PUT", path + "/content", ALICE, data=body, Content_Type="text/plain")
        refused(put, 409, "conflict", "other bytes than were announced", reason=reason)
    commit = call("POST", path + "/commit", ALICE, {"bytes": len(data)})
    refused(commit, 409, "conflict", "a commit of a direct upload", reason="wrong-status")
    publish(ALICE, "empty.txt", b"")
    resumable(data)
    gone(second["id"])


def read(path, token, data):
    whole = call("GET", path, token)
    check(whole.status == 200 and whole.body == data, "content streams the stored bytes", whole)
    check(whole.headers["Content-Type"].startswith("text/plain"), "the stored content type", whole.headers)
    for name, value in CONTENT_HEADERS.items():
        check(whole.headers[name] == value, f"{name}: {value}", whole.headers)
    part = call("GET", path, token, Range="bytes=2-5")
    check(part.status == 206 and part.body == data[2:6], "a Range request answers 206", part)
    download = call("GET", path + "?download=1", token)
    disposition = download.headers["Content-Disposition"] or ""
    check(disposition.startswith("attachment"), "download=1 makes it an attachment", download.headers)
    return whole


def resumable(data):
    made = call("POST", FAMILY, ALICE, facts("large.txt", data, upload="resumable")).json
    shape(made, "a resumable announcement", session_url=TEXT, expires_at=is_time, upload=among("resumable"))
    path = f"{FAMILY}/{made['id']}"
    direct = call("PUT", path + "/content", ALICE, data=data, Content_Type="text/plain")
    refused(direct, 409, "conflict", "bytes of a resumable upload sent directly", reason="resumable-upload")
    refused(call("POST", path + "/commit", ALICE, {"bytes": len(data)}), 409, "conflict", "a commit before the bytes",
            reason="object-missing")
    half = len(data) // 2
    for start, end in ((0, half), (half, len(data))):
        call("PUT", made["session_url"], data=data[start:end], Content_Range=f"bytes {start}-{end - 1}/{len(data)}")
    other = call("POST", path + "/commit", ALICE, {"bytes": 1})
    refused(other, 409, "conflict", "another size", reason="size-mismatch")
    digest = hashlib.sha256(data).hexdigest()
    done = call("POST", path + "/commit", ALICE, {"bytes": len(data), "sha256": digest.upper()})
    check(done.status == 200, "a commit with the final size answers the item", done)
    item(done.json, sha256=digest, status="ready")
    again = call("POST", path + "/commit", ALICE, {"bytes": len(data)})
    refused(again, 409, "conflict", "a second commit", reason="not-pending")
    call("DELETE", path, ALICE)


def gone(checkpoint):
    path = f"{FAMILY}/{checkpoint}"
    for member, rule in ((BOB, "another member's"), (CAROL, "another organization's")):
        refused(call("DELETE", path, member), 410, "gone", f"deleting {rule} checkpoint")
    check(call("DELETE", path, ALICE).status == 200, "the creator deletes")
    for unknown in (path, FAMILY + "/ckp_000000000000", FAMILY + "/" + "x" * 400):
        refused(call("DELETE", unknown, ALICE), 410, "gone", "deleted and unknown ids")
        refused(call("GET", unknown, ALICE), 410, "gone", "deleted and unknown ids")


def feed():
    public = FAMILY + "/public"
    data = b"<!doctype html><title>walk</title>"
    page = publish(CAROL, "walk.html", data, content_type="text/html", visibility="public", title="Walk of the feed")
    check(page["status"] == "review", "bytes of a public file go to review", page)
    path = f"{public}/{page['id']}"
    refused(call("GET", path), 404, "not-found", "items under review are absent from the feed")
    subprocess.run([APPROVE, page["id"]], check=True)
    shown = call("GET", path)
    check(shown.status == 200, "after approval the item is on the feed", shown)
    item(shown.json, status="ready", visibility="public")
    check(shown.headers["Access-Control-Allow-Origin"] == "*", "every GET carries Access-Control-Allow-Origin: *")
    listed = call("GET", public + "?q=walk%20of").json
    shape(listed, "the feed", checkpoints=LIST, more=FLAG, cursor=nullable(TEXT))
    found = [one["id"] for one in listed["checkpoints"]]
    check(page["id"] in found, "q searches title, description, file name", listed)
    content = call("GET", path + "/content")
    check(content.body == data and "sandbox" in (content.headers["Content-Security-Policy"] or ""),
          "html has a Content-Security-Policy with sandbox", content.headers)
    for name, value in {**CONTENT_HEADERS, "Access-Control-Allow-Origin": "*"}.items():
        check(content.headers[name] == value, f"{name}: {value}", content.headers)
    for preflight in (public, path, path + "/content"):
        check(call("OPTIONS", preflight).status == 204, "OPTIONS answers 204")
    script = publish(CAROL, "walk.js", b"alert(1)", content_type="text/javascript", visibility="public")
    subprocess.run([APPROVE, script["id"]], check=True)
    disposition = call("GET", f"{public}/{script['id']}/content").headers["Content-Disposition"] or ""
    check(disposition.startswith("attachment"), "scripts are always attachments", disposition)
    better = publish(CAROL, "walk.html", data + b"!", content_type="text/html", visibility="public")
    check(better["id"] == page["id"], "a public replacement keeps the id", better)
    check(call("GET", path + "/content").body == data, "the previous public revision stays live until approval")
    check(call("DELETE", f"{FAMILY}/{page['id']}", CAROL).status == 200, "the creator deletes a public item")
    refused(call("GET", path), 404, "not-found", "a deleted item leaves the feed")
    refused(call("GET", public + "/ckp_000000000000"), 404, "not-found", "unknown id on the feed")


class Tools:
    """The Model Context Protocol over HTTP, as its specification has it."""

    def __init__(self):
        self.session, self.sent = None, 0
        hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "walk", "version": "1"}}
        self.ask("initialize", hello)
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def send(self, message):
        headers = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-06-18"}
        if self.session:
            headers["Mcp-Session-Id"] = self.session
        answer = call("POST", "/mcp", TOKENS["mcp"], message, **headers)
        self.session = answer.headers["Mcp-Session-Id"] or self.session
        return answer

    def ask(self, method, parameters):
        self.sent += 1
        answer = self.send({"jsonrpc": "2.0", "id": self.sent, "method": method, "params": parameters})
        return answer.json.get("result", {})

    def use(self, tool, **arguments):
        result = self.ask("tools/call", {"name": tool, "arguments": arguments})
        return result.get("isError", False), result.get("structuredContent", {})


def models():
    tools = Tools()
    known = {one["name"]: one for one in tools.ask("tools/list", {}).get("tools", [])}
    wanted = {"bid_write", "checkpoint_read", "checkpoint_write", "grid_api"}
    check(wanted <= set(known), "the tools are there", set(known))
    order = dict(kind="vm", cluster=CLUSTER, max_gpus=0, max_price_per_gpu_hour=2, release=["192.0.2.1"])
    failed, preview = tools.use("bid_write", phase="preview", **order)
    flags = not failed and "192.0.2.1" in json.dumps(preview)
    check(flags, "the preview flags entries that match no held node", preview)
    order.pop("release")
    version = capacity()["version"]
    failed, preview = tools.use("bid_write", phase="preview", **order)
    check(not failed and capacity()["version"] == version, "a preview writes nothing", preview)
    failed, told = tools.use("bid_write", phase="confirm", confirm_token=preview.get("confirm_token"), **order)
    check(not failed and capacity()["version"] == version + 1, "the confirm phase writes", told)
    made = publish(ALICE, "model.txt", b"for a model")
    failed, page = tools.use("checkpoint_read", action="list")
    check(made["id"] in json.dumps(page), "checkpoint_read returns the organization's items", page)
    failed, one = tools.use("checkpoint_read", action="get", id=made["id"])
    check(not failed, "checkpoint_read has action get", one)
    failed, _ = tools.use("checkpoint_write", action="publish", phase="preview", **facts("m.txt", b"x"))
    check(failed, "publishing is not available over MCP")
    failed, preview = tools.use("checkpoint_write", action="delete", phase="preview", id=made["id"])
    check(not failed and "model.txt" in json.dumps(preview), "the preview names the item", preview)
    check(call("GET", f"{FAMILY}/{made['id']}", ALICE).status == 200, "a preview removes nothing")
    token = preview.get("confirm_token")
    failed, told = tools.use("checkpoint_write", action="delete", phase="confirm", id=made["id"], confirm_token=token)
    check(not failed and call("GET", f"{FAMILY}/{made['id']}", ALICE).status == 410, "the confirm removes it", told)
    for path in ("/api/org/tokens", "/api/org/activity"):
        failed, told = tools.use("grid_api", path=path)
        check(not failed, f"{path} is reachable as a grid_api path", told)
    failed, told = tools.use("grid_api", path="/api/org/tokens/self/activity")
    check(failed, "self names no token in grid_api", told)


org_id = orientation()
for part, arguments in ((market, [org_id]), (organization, [org_id]), (checkpoints, []), (feed, []), (models, [])):
    try:
        part(*arguments)
    except Exception as fault:  # What an answer lacks ends its part; the others go on.
        check(False, f"{part.__name__} can be walked to its end", "".join(traceback.format_exception(fault)[-3:]))
for failure in failures:
    print("violated: " + failure)
print(f"{checks} checks, {len(failures)} violated")
sys.exit(1 if failures else 0)
