-- Prices are US cents per GPU-hour, times epoch milliseconds, truth values 0 or 1, JSON is text.

CREATE TABLE org (
  org_id TEXT PRIMARY KEY,
  display TEXT NOT NULL,
  kind TEXT NOT NULL,
  created_at INTEGER NOT NULL
);

CREATE TABLE member (
  org_id TEXT NOT NULL REFERENCES org (org_id),
  username TEXT NOT NULL,
  email TEXT NOT NULL,
  name TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (org_id, username)
);

CREATE TABLE token (
  token_id TEXT PRIMARY KEY,
  org_id TEXT NOT NULL REFERENCES org (org_id),
  name TEXT NOT NULL,
  secret_sha256 TEXT NOT NULL,
  scopes TEXT NOT NULL,
  cluster TEXT,
  created_by TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  last_used_at INTEGER,
  revoked_at INTEGER
);
CREATE INDEX token_of_org ON token (org_id, created_at);

CREATE TABLE pool (
  name TEXT PRIMARY KEY,
  site TEXT NOT NULL,
  provider TEXT NOT NULL,
  gpu_vendor TEXT NOT NULL,
  gpu_model TEXT,
  gpus_per_node INTEGER NOT NULL,
  reserve_cents INTEGER NOT NULL,
  cap_cents INTEGER NOT NULL,
  detector_armed INTEGER NOT NULL,
  swaps_enabled INTEGER NOT NULL,
  ssh_user TEXT NOT NULL,
  ssh_port INTEGER NOT NULL,
  env TEXT NOT NULL,
  storage TEXT NOT NULL,
  created_at INTEGER NOT NULL
);

-- Who may run a pool's market: the owner, until the lease expires. The epoch fences its commits.
CREATE TABLE lease (
  pool TEXT PRIMARY KEY REFERENCES pool (name),
  owner TEXT NOT NULL,
  epoch INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
);

CREATE TABLE node (
  node_id TEXT PRIMARY KEY,
  pool TEXT NOT NULL REFERENCES pool (name),
  public_ip TEXT NOT NULL UNIQUE,
  ssh_port INTEGER NOT NULL,
  host_key TEXT,
  cordoned INTEGER NOT NULL DEFAULT 0,
  failures INTEGER NOT NULL DEFAULT 0,
  usable_after INTEGER NOT NULL DEFAULT 0,
  quarantined_at INTEGER,
  created_at INTEGER NOT NULL
);
CREATE INDEX node_of_pool ON node (pool, node_id);

-- Change points of a pool's prices. The two running sums make the mean over any span two look-ups:
-- cents x milliseconds priced, and milliseconds priced, both up to the change point.
CREATE TABLE price_point (
  pool TEXT NOT NULL REFERENCES pool (name),
  ts INTEGER NOT NULL,
  clearing_cents INTEGER,
  admission_cents INTEGER,
  cents_millis INTEGER NOT NULL,
  priced_millis INTEGER NOT NULL,
  PRIMARY KEY (pool, ts)
);

CREATE TABLE cluster (
  name TEXT PRIMARY KEY,
  org_id TEXT NOT NULL REFERENCES org (org_id),
  pool TEXT NOT NULL REFERENCES pool (name),
  kind TEXT NOT NULL,
  posture TEXT NOT NULL,
  writes_armed INTEGER NOT NULL,
  maintenance INTEGER NOT NULL,
  version INTEGER NOT NULL,
  revision INTEGER NOT NULL,
  max_gpus INTEGER,
  ceiling_cents INTEGER,
  priced_at INTEGER,
  declared_at INTEGER,
  declared_by TEXT,
  bid_too_low INTEGER NOT NULL,
  capacity_unavailable INTEGER,
  last_write_at INTEGER NOT NULL,
  provision_failures INTEGER NOT NULL,
  hold_stage TEXT,
  hold_reason TEXT,
  hold_enforce_after INTEGER,
  created_at INTEGER NOT NULL
);
CREATE INDEX cluster_of_org ON cluster (org_id, name);

-- Every grant ever made. A row without gone_at still occupies its machine.
CREATE TABLE allocation (
  allocation_id TEXT PRIMARY KEY,
  cluster TEXT NOT NULL REFERENCES cluster (name),
  node_id TEXT NOT NULL REFERENCES node (node_id),
  public_ip TEXT,
  slot INTEGER NOT NULL,
  state TEXT NOT NULL,
  granted_at INTEGER NOT NULL,
  active_at INTEGER,
  protected_until INTEGER,
  grant_ceiling_cents INTEGER NOT NULL,
  pinned INTEGER NOT NULL,
  nomination INTEGER NOT NULL,
  swap_requested_at INTEGER,
  replaces TEXT,
  key_ids TEXT NOT NULL,
  reclaim_reason TEXT,
  reclaim_at INTEGER,
  gone_at INTEGER
);
CREATE UNIQUE INDEX allocation_occupies_node ON allocation (node_id) WHERE gone_at IS NULL;
CREATE INDEX allocation_live ON allocation (cluster) WHERE gone_at IS NULL;
CREATE INDEX allocation_granted ON allocation (cluster, granted_at);
CREATE INDEX allocation_reclaimed ON allocation (cluster, reclaim_at);

CREATE TABLE activity (
  id INTEGER PRIMARY KEY,
  ts INTEGER NOT NULL,
  cluster TEXT NOT NULL,
  kind TEXT NOT NULL,
  actor TEXT NOT NULL,
  who TEXT NOT NULL,
  max_gpus INTEGER,
  ceiling_cents INTEGER,
  note TEXT,
  reason TEXT
);
CREATE INDEX activity_of_cluster ON activity (cluster, kind, ts, id);
CREATE INDEX activity_of_origin ON activity (cluster, kind, who, ts, id);

CREATE TABLE ssh_key (
  key_id TEXT PRIMARY KEY,
  org_id TEXT NOT NULL REFERENCES org (org_id),
  name TEXT NOT NULL,
  public_key TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  cluster TEXT,
  created_at INTEGER NOT NULL,
  created_by TEXT NOT NULL,
  revoked_at INTEGER
);
CREATE UNIQUE INDEX ssh_key_material ON ssh_key (org_id, fingerprint, COALESCE(cluster, ''))
  WHERE revoked_at IS NULL;

CREATE TABLE audit (
  id INTEGER PRIMARY KEY,
  ts INTEGER NOT NULL,
  org_id TEXT NOT NULL,
  actor TEXT NOT NULL,
  action TEXT NOT NULL,
  subject TEXT NOT NULL,
  detail TEXT NOT NULL,
  is_read INTEGER NOT NULL
);
CREATE INDEX audit_of_org ON audit (org_id, is_read, id);
CREATE INDEX audit_of_actor ON audit (actor, is_read, id);

-- Platform-wide switches.
CREATE TABLE switch (
  name TEXT PRIMARY KEY,
  is_on INTEGER NOT NULL
);
