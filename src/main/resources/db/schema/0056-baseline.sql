-- The schema of both engines as of step 56; stores of earlier steps are refused. Written in the words of the embedded
-- engine, which each session translates (Dialect). Times are epoch milliseconds, truths are 0 and 1, money is cents or
-- micro-dollars as its column says, and digests are hexadecimal.

CREATE TABLE org (
  org_id TEXT PRIMARY KEY,
  display TEXT NOT NULL,
  kind TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  retired_at INTEGER,
  max_clusters INTEGER,
  -- Whether API tokens of the organization need the scope capacity:write to add and revoke ssh keys. A process of the
  -- previous release does not ask.
  ssh_keys_need_write INTEGER NOT NULL DEFAULT 0
);
-- Ways in for statements that read whole tables: sweeps by age, and the few rows of many that somebody looks for.
CREATE INDEX org_retired ON org (retired_at, org_id) WHERE retired_at IS NOT NULL;

CREATE TABLE member (
  org_id TEXT NOT NULL REFERENCES org (org_id),
  username TEXT NOT NULL,
  email TEXT NOT NULL,
  name TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  last_login_at INTEGER,
  suspended_at INTEGER,
  PRIMARY KEY (org_id, username)
);
CREATE INDEX member_email ON member (lower(email));

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
  revoked_at INTEGER,
  -- How far the declarations of a token, or of an application that a member let in, may go; null for as far as anybody's.
  max_gpus INTEGER,
  max_price_cents INTEGER,
  max_hourly_cents INTEGER,
  max_lease_millis INTEGER
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
  created_at INTEGER NOT NULL,
  -- Members make clusters by themselves in pools that operators open, as many as their organization may have: null is
  -- the service's setting. A retired cluster keeps its row, for bills and activity name it, and its name is not used
  -- again; its writes are disarmed too, which is what a process that knows no retiring goes by.
  self_service INTEGER NOT NULL DEFAULT 0,
  -- How long before its nodes are taken back for a rival a pool tells their holders; null for as long as the service's
  -- setting says.
  notice_millis INTEGER,
  -- Since when an operator has a pool's market paused, who and why; null while it goes on. A process of the release
  -- before knows nothing of it and goes on granting.
  paused_at INTEGER,
  paused_by TEXT,
  pause_reason TEXT
);

-- Who may run a pool's market: the owner, until the lease expires. The epoch fences its commits.
CREATE TABLE lease (
  pool TEXT PRIMARY KEY REFERENCES pool (name),
  owner TEXT NOT NULL,
  epoch INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  -- What the holder of a lease last published, and its epoch: of use where processes share a database.
  quote TEXT,
  quote_epoch INTEGER,
  -- Since when the holder of a lease has it, and its epoch: a process of the release before takes leases without them.
  acquired_at INTEGER,
  acquired_epoch INTEGER
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
  created_at INTEGER NOT NULL,
  -- The allocation a machine could not be cleaned after, when that is why it is quarantined; and how often
  -- operators had its work taken up again, so that whoever runs its pool's market sees each time they do.
  unclean_after TEXT,
  retries INTEGER NOT NULL DEFAULT 0,
  -- A retired node keeps its row, for allocations name it, under an address nobody has: the real one, kept beside it,
  -- is free for another machine. It is cordoned too, which keeps it out of the market of a jar that knows no retiring.
  -- The generation grows when an operator says that the machine is another than it was: it is then asked anew what it
  -- holds. What was last seen of a machine is written by whoever runs its market; an error means that it did not answer.
  retired_at INTEGER,
  retired_ip TEXT,
  generation INTEGER NOT NULL DEFAULT 0,
  last_seen INTEGER,
  last_error TEXT,
  -- The reason, for operators, why a machine was last not prepared or not cleaned.
  failure TEXT,
  -- The last examination of a machine's hardware: OK, DEGRADED, FAILED or UNKNOWN, since when, and a fault a line.
  health TEXT,
  health_since INTEGER,
  health_reasons TEXT,
  -- The digest of the accepted list of what root owns on a machine.
  baseline TEXT
);
CREATE INDEX node_of_pool ON node (pool, node_id);
-- For who looks at all pools: the machines that wait for an operator, and the organizations that are held.
CREATE INDEX node_quarantined ON node (quarantined_at, node_id) WHERE quarantined_at IS NOT NULL;

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
  created_at INTEGER NOT NULL,
  -- What an operator set for one cluster, in the place of its pool's.
  cap_cents INTEGER,
  env TEXT,
  description TEXT,
  retired_at INTEGER,
  -- What a declaration is under besides its price: fewer GPUs than min_gpus are worth nothing, at until_at it lapses, and
  -- once it has cost max_spend_cents from spend_since on.
  min_gpus INTEGER,
  until_at INTEGER,
  max_spend_cents INTEGER,
  spend_since INTEGER,
  -- What a cluster wants to be told of, and what it has been told, as JSON; null for nothing.
  alerts TEXT,
  -- By which consent an application wrote the declaration, and what one token wrote last.
  declared_with TEXT,
  -- When the market gave up completing a minimum of nodes; the cluster stands back for a while after that.
  gang_unwound_at INTEGER,
  effective_at INTEGER,
  -- The ceiling that the last tick read, when it was declared, and when the tick read it.
  gate_cents INTEGER,
  gate_priced_at INTEGER,
  gate_at INTEGER,
  -- Seats won without a node yet, and when the cluster last gave up a seat or a new node.
  awaited_slots INTEGER NOT NULL DEFAULT 0,
  gave_up_at INTEGER
);
CREATE INDEX cluster_of_org ON cluster (org_id, name);
CREATE INDEX cluster_declared_by ON cluster (declared_by, org_id) WHERE max_gpus > 0;

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
  gone_at INTEGER,
  -- That an active node will be taken back, and when; since when a machine is ready whose grant is not complete.
  notice_reason TEXT,
  notice_ends_at INTEGER,
  ready_at INTEGER,
  -- The ceiling at the last tick that seated it, the organization's price at the tick that granted it, the number of
  -- nodes that must be ready before it becomes active, and whether its keys are not written yet.
  seat_ceiling_cents INTEGER,
  grant_price_cents INTEGER,
  minimum_slots INTEGER,
  keys_due INTEGER NOT NULL DEFAULT 0
);
CREATE UNIQUE INDEX allocation_occupies_node ON allocation (node_id) WHERE gone_at IS NULL;
CREATE INDEX allocation_live ON allocation (cluster) WHERE gone_at IS NULL;
CREATE INDEX allocation_granted ON allocation (cluster, granted_at);
CREATE INDEX allocation_reclaimed ON allocation (cluster, reclaim_at);
-- Whatever a clock that was ahead has left is found by its time.
CREATE INDEX allocation_reclaim ON allocation (reclaim_at);
-- What was swapped away within the last hour is read at each tick.
CREATE INDEX allocation_swapped ON allocation (reclaim_at) WHERE reclaim_reason = 'SWAP';
CREATE INDEX allocation_active ON allocation (active_at);

CREATE TABLE activity (
  id INTEGER GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  ts INTEGER NOT NULL,
  cluster TEXT NOT NULL,
  kind TEXT NOT NULL,
  actor TEXT NOT NULL,
  who TEXT NOT NULL,
  max_gpus INTEGER,
  ceiling_cents INTEGER,
  note TEXT,
  reason TEXT,
  -- What happened to a cluster is a kind and its columns, no longer a text to be read again. Texts
  -- that are none of these stay as they are. The release before still reads the text, and writes it
  -- alone, so the columns may be empty.
  event TEXT,
  public_ip TEXT,
  cause TEXT,
  -- From when on something happens that an entry announces.
  ends_at INTEGER,
  -- When a declared ceiling is in force at the latest; null in rows of an earlier release, where it was at once.
  effective_at INTEGER
);
CREATE INDEX activity_of_cluster ON activity (cluster, kind, ts, id);
CREATE INDEX activity_of_origin ON activity (cluster, kind, who, ts, id);
CREATE INDEX activity_at ON activity (ts);

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
-- A member's keys, revoked ones too, when the member is removed.
CREATE INDEX ssh_key_of_org ON ssh_key (org_id, created_at);

CREATE TABLE audit (
  id INTEGER GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
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

-- A rule of kind email is an invitation until a member carries that address.
CREATE TABLE join_rule (
  rule_id TEXT PRIMARY KEY,
  org_id TEXT NOT NULL REFERENCES org (org_id),
  kind TEXT NOT NULL,
  value TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  created_by TEXT NOT NULL,
  link_expires_at INTEGER,
  -- When it was proven that a domain is the organization's, and by whom: an operator, or the member who had
  -- the DNS record looked up. A rule of kind domain admits nobody before that, and the rules of older stores are
  -- not proven either. A domain has one owner.
  proven_at INTEGER,
  proven_by TEXT
);
CREATE UNIQUE INDEX join_rule_value ON join_rule (org_id, kind, value);
CREATE INDEX join_rule_admits ON join_rule (value, kind);
CREATE UNIQUE INDEX join_rule_owner ON join_rule (value) WHERE kind = 'domain' AND proven_at IS NOT NULL;

CREATE TABLE operator_token (
  token_id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  secret_sha256 TEXT NOT NULL,
  created_by TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  revoked_at INTEGER,
  -- Whether an operator's token only reads. A process of the release before takes it for one that may do all.
  read_only INTEGER NOT NULL DEFAULT 0,
  -- The one site whose machines the bearer of an operator's token keeps, and nothing else; null for the platform.
  site TEXT,
  -- A process of the release before takes an operator's token for one that may do all. So one that may not (is_narrow)
  -- has revoked_at from the start, and is refused there, and ended_at is when it was revoked in truth. Those that only
  -- read and were minted before this step are as they were.
  is_narrow INTEGER NOT NULL DEFAULT 0,
  ended_at INTEGER
);
CREATE UNIQUE INDEX operator_token_name ON operator_token (name);

-- A batch of an organization's trail: reads and writes are sealed apart, for they are kept for
-- different times. The seal is a digest over the previous one and over row_digests' first 32 bytes,
-- the digest over the rows' digests; each row's id and the beginning of its digest follow, until the
-- rows are purged.
CREATE TABLE audit_seal (
  org_id TEXT NOT NULL,
  is_read INTEGER NOT NULL,
  batch INTEGER NOT NULL,
  first_id INTEGER NOT NULL,
  last_id INTEGER NOT NULL,
  row_count INTEGER NOT NULL,
  newest_at INTEGER NOT NULL,
  row_digests BLOB NOT NULL,
  seal TEXT NOT NULL,
  sealed_at INTEGER NOT NULL,
  purged_at INTEGER,
  PRIMARY KEY (org_id, is_read, batch)
);
CREATE INDEX audit_seal_kept ON audit_seal (is_read, newest_at) WHERE purged_at IS NULL;

-- How far the trail is sealed: every row up to this id is in a batch.
CREATE TABLE audit_sealed (
  name TEXT PRIMARY KEY,
  through_id INTEGER NOT NULL
);

-- An item. The draft's bytes are awaited, the head is the newest complete revision, the live one is
-- what readers get. Each names a row of checkpoint_revision. The platform's org_id is empty.
CREATE TABLE checkpoint (
  item_id TEXT PRIMARY KEY,
  org_id TEXT NOT NULL,
  visibility TEXT NOT NULL,
  filename TEXT NOT NULL,
  creator TEXT NOT NULL,
  publisher_name TEXT,
  created_at INTEGER NOT NULL,
  changed_at INTEGER NOT NULL,
  last_revision INTEGER NOT NULL,
  version INTEGER NOT NULL,
  draft_revision INTEGER,
  head_revision INTEGER,
  live_revision INTEGER,
  search TEXT NOT NULL,
  feed_at INTEGER,
  feed_search TEXT,
  -- What a checkpoint's creator is known by: organization, username, and since when it is theirs. An item whose
  -- creator is no more has none, whoever has the name now. Rows of the version before have none, either.
  creator_id TEXT
);
CREATE UNIQUE INDEX checkpoint_place ON checkpoint (org_id, visibility, filename);
CREATE INDEX checkpoint_of_org ON checkpoint (org_id, changed_at, item_id);
CREATE INDEX checkpoint_feed ON checkpoint (feed_at, item_id) WHERE feed_at IS NOT NULL;

CREATE TABLE checkpoint_revision (
  item_id TEXT NOT NULL REFERENCES checkpoint (item_id),
  revision INTEGER NOT NULL,
  state TEXT NOT NULL,
  title TEXT NOT NULL,
  description TEXT NOT NULL,
  filename TEXT NOT NULL,
  content_type TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  declared_sha256 TEXT,
  resumable INTEGER NOT NULL,
  session_sha256 TEXT,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  sha256 TEXT,
  published_at INTEGER,
  review_id TEXT,
  findings TEXT NOT NULL,
  rejection_reason TEXT,
  -- Sets: items of several files. Their content is a manifest; files is how many it names, 0 for a single file.
  files INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (item_id, revision)
);
CREATE UNIQUE INDEX checkpoint_session ON checkpoint_revision (session_sha256)
  WHERE session_sha256 IS NOT NULL;
CREATE INDEX checkpoint_awaited ON checkpoint_revision (state, expires_at);
CREATE UNIQUE INDEX checkpoint_review ON checkpoint_revision (review_id)
  WHERE review_id IS NOT NULL;
-- How many blobs there are, and their bytes together.
CREATE INDEX checkpoint_stored ON checkpoint_revision (bytes) WHERE sha256 IS NOT NULL;

-- What an organization's items hold: bytes reserved or used, and items.
CREATE TABLE checkpoint_usage (
  org_id TEXT PRIMARY KEY,
  used_bytes INTEGER NOT NULL,
  items INTEGER NOT NULL
);

-- Uploads and blobs that no row names any more, until they are deleted.
CREATE TABLE checkpoint_garbage (
  name TEXT NOT NULL,
  kind TEXT NOT NULL,
  since INTEGER NOT NULL,
  PRIMARY KEY (name, kind)
);
CREATE INDEX checkpoint_garbage_age ON checkpoint_garbage (since, name, kind);

-- The public halves of the keys that any process on this store signs with; expires_at is when the
-- last token signed with one has expired.
CREATE TABLE signing_key (
  kid TEXT PRIMARY KEY,
  public_jwk TEXT NOT NULL,
  made_at INTEGER NOT NULL,
  retired_at INTEGER,
  expires_at INTEGER NOT NULL
);

-- Secrets that every process on this store has to agree on.
CREATE TABLE service_secret (
  name TEXT PRIMARY KEY,
  secret TEXT NOT NULL
);

-- Tokens that are refused though they have not expired; a row goes when they have.
CREATE TABLE revoked_grant (
  grant_id TEXT PRIMARY KEY,
  kept_until INTEGER NOT NULL
);
CREATE INDEX revoked_grant_age ON revoked_grant (kept_until);

CREATE TABLE member_cutoff (
  org_id TEXT NOT NULL,
  username TEXT NOT NULL,
  issued_until INTEGER NOT NULL,
  kept_until INTEGER NOT NULL,
  PRIMARY KEY (org_id, username)
);
CREATE INDEX member_cutoff_age ON member_cutoff (kept_until);

-- An application that registered itself. Unused ones go after a day.
CREATE TABLE oauth_client (
  client_id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  redirect_uris TEXT NOT NULL,
  grant_types TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  used_at INTEGER
);
CREATE INDEX oauth_client_age ON oauth_client (used_at, created_at);

-- What a member allowed an application. begun_at is when it got its first token.
CREATE TABLE oauth_grant (
  grant_id TEXT PRIMARY KEY,
  org_id TEXT NOT NULL,
  username TEXT NOT NULL,
  client_id TEXT NOT NULL,
  client_name TEXT NOT NULL,
  scopes TEXT NOT NULL,
  resource TEXT NOT NULL,
  refreshable INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  begun_at INTEGER,
  idle_until INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  revoked_at INTEGER,
  used_at INTEGER,
  max_gpus INTEGER,
  max_price_cents INTEGER,
  max_hourly_cents INTEGER,
  max_lease_millis INTEGER
);
CREATE INDEX oauth_grant_of_member ON oauth_grant (org_id, username, created_at);
CREATE INDEX oauth_grant_idle ON oauth_grant (idle_until);
CREATE INDEX oauth_grant_end ON oauth_grant (expires_at);
CREATE INDEX oauth_grant_revoked ON oauth_grant (revoked_at) WHERE revoked_at IS NOT NULL;

CREATE TABLE oauth_code (
  code_sha256 TEXT PRIMARY KEY,
  grant_id TEXT NOT NULL REFERENCES oauth_grant (grant_id),
  redirect_uri TEXT NOT NULL,
  challenge TEXT NOT NULL,
  expires_at INTEGER NOT NULL,
  used_at INTEGER
);
CREATE INDEX oauth_code_age ON oauth_code (expires_at);
CREATE INDEX oauth_code_of_grant ON oauth_code (grant_id);

-- A device that asks for a member's permission; state is pending, allowed, denied or used.
CREATE TABLE oauth_device (
  device_sha256 TEXT PRIMARY KEY,
  user_code TEXT NOT NULL,
  client_id TEXT NOT NULL,
  scopes TEXT NOT NULL,
  resource TEXT NOT NULL,
  state TEXT NOT NULL,
  grant_id TEXT,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  next_poll_at INTEGER NOT NULL,
  interval_millis INTEGER NOT NULL
);
CREATE UNIQUE INDEX oauth_device_user_code ON oauth_device (user_code);
CREATE INDEX oauth_device_age ON oauth_device (expires_at);

-- A one-time link, by the digest of its secret. An invitation's names its organization.
CREATE TABLE sign_in_link (
  link_sha256 TEXT PRIMARY KEY,
  email TEXT NOT NULL,
  org_id TEXT,
  person_name TEXT NOT NULL,
  return_to TEXT NOT NULL,
  made_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  used_at INTEGER,
  -- The browser that asked for a link, by a digest of its cookie: in no other one does the link lead to return_to.
  asked_by TEXT
);
CREATE INDEX sign_in_link_expiry ON sign_in_link (expires_at);
CREATE INDEX sign_in_link_of_invitation ON sign_in_link (org_id, email) WHERE org_id IS NOT NULL;

-- A browser that is signed in, by the digest of its cookie.
CREATE TABLE member_session (
  session_sha256 TEXT PRIMARY KEY,
  org_id TEXT NOT NULL REFERENCES org (org_id),
  username TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  seen_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  -- By what a member tells their sessions and applications apart, and the links mailed with an invitation.
  user_agent TEXT NOT NULL DEFAULT '',
  address TEXT NOT NULL DEFAULT ''
);
CREATE INDEX member_session_of_member ON member_session (org_id, username, created_at);
CREATE INDEX member_session_expiry ON member_session (expires_at);
CREATE INDEX member_session_seen ON member_session (seen_at);

CREATE TABLE removed_member (
  org_id TEXT NOT NULL REFERENCES org (org_id),
  email TEXT NOT NULL,
  removed_at INTEGER NOT NULL,
  PRIMARY KEY (org_id, email)
);

-- Confirm tokens that were used, until they would have expired.
CREATE TABLE confirm_used (
  nonce TEXT PRIMARY KEY,
  expires_at INTEGER NOT NULL
);
CREATE INDEX confirm_used_expiry ON confirm_used (expires_at);

-- Sessions that were ended, by a digest of their id, until they would have expired.
CREATE TABLE mcp_session_ended (
  session_sha256 TEXT PRIMARY KEY,
  expires_at INTEGER NOT NULL
);
CREATE INDEX mcp_session_ended_expiry ON mcp_session_ended (expires_at);

-- Why money moved. The key makes it unique, so that nothing is booked twice; effective_at tells the
-- month it belongs to.
CREATE TABLE ledger_transaction (
  id INTEGER GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  tx_key TEXT NOT NULL UNIQUE,
  made_at INTEGER NOT NULL,
  effective_at INTEGER NOT NULL,
  month INTEGER NOT NULL,
  kind TEXT NOT NULL,
  org_id TEXT NOT NULL REFERENCES org (org_id),
  actor TEXT NOT NULL,
  memo TEXT NOT NULL,
  -- Usage posted for an hour that turned out to lie ahead is reversed: by another transaction, which names
  -- the one it reverses. The hour's key is free again then.
  reversed_at INTEGER,
  reverses INTEGER
);
CREATE INDEX ledger_of_org ON ledger_transaction (org_id, id);
CREATE INDEX ledger_of_month ON ledger_transaction (org_id, month, kind);
CREATE INDEX ledger_usage_made ON ledger_transaction (made_at)
  WHERE kind = 'usage' AND reversed_at IS NULL AND reverses IS NULL;

-- The entries of one transaction sum to zero.
CREATE TABLE ledger_entry (
  transaction_id INTEGER NOT NULL REFERENCES ledger_transaction (id),
  account TEXT NOT NULL,
  micros INTEGER NOT NULL,
  PRIMARY KEY (transaction_id, account)
);

-- The sum of an account's entries, kept in the commit of each.
CREATE TABLE ledger_account (
  account TEXT PRIMARY KEY,
  micros INTEGER NOT NULL
);

-- What was billed for one cluster and UTC hour.
CREATE TABLE usage_line (
  org_id TEXT NOT NULL REFERENCES org (org_id),
  hour INTEGER NOT NULL,
  cluster TEXT NOT NULL REFERENCES cluster (name),
  gpu_millis INTEGER NOT NULL,
  cent_gpu_millis INTEGER NOT NULL,
  amount_micros INTEGER NOT NULL,
  PRIMARY KEY (org_id, hour, cluster)
);

-- What an organization may spend in a month, the hold it is under, and up to when its usage is
-- posted if that is further than everybody's.
CREATE TABLE billing_org (
  org_id TEXT PRIMARY KEY REFERENCES org (org_id),
  posted_through INTEGER NOT NULL DEFAULT 0,
  limit_micros INTEGER,
  hold_stage TEXT NOT NULL DEFAULT 'NONE',
  hold_reason TEXT,
  hold_since INTEGER NOT NULL DEFAULT 0,
  hold_enforced INTEGER NOT NULL DEFAULT 0,
  -- What an organization was billed for the hours of one month, from month_start up to month_through; the lines behind
  -- that are added when it is read.
  month_start INTEGER,
  month_micros INTEGER NOT NULL DEFAULT 0,
  month_through INTEGER NOT NULL DEFAULT 0,
  -- An organization that an operator holds by hand, whatever its money says: the stage it is in, null while it is in
  -- none, and when that last changed, 0 before the first time.
  operator_hold_stage TEXT,
  operator_hold_since INTEGER NOT NULL DEFAULT 0,
  operator_hold_reason TEXT,
  operator_hold_by TEXT,
  -- The monthly spend limit that members set and the one that operators set. limit_micros is the one in force, the lower
  -- of the two, and the only one that a process of the previous release reads and writes.
  member_limit_micros INTEGER,
  operator_limit_micros INTEGER
);
CREATE INDEX billing_org_limited ON billing_org (org_id) WHERE limit_micros IS NOT NULL;
CREATE INDEX billing_org_enforced ON billing_org (org_id) WHERE hold_enforced <> 0;
CREATE INDEX billing_org_held ON billing_org (hold_since, org_id) WHERE hold_stage <> 'NONE';
CREATE INDEX billing_org_by_operator ON billing_org (operator_hold_since, org_id) WHERE operator_hold_stage IS NOT NULL;
-- For who lists the organizations that are held, a page at a time by id.
CREATE INDEX billing_org_operator_held ON billing_org (org_id) WHERE operator_hold_stage IS NOT NULL;
CREATE INDEX billing_org_money_held ON billing_org (org_id) WHERE hold_stage <> 'NONE';
CREATE INDEX billing_org_operator_limited ON billing_org (org_id) WHERE operator_limit_micros IS NOT NULL;

-- Up to when everybody's usage is posted.
CREATE TABLE billing_posted (
  name TEXT PRIMARY KEY,
  through INTEGER NOT NULL,
  -- When everybody's mark was moved.
  advanced_at INTEGER
);

-- One row a family of refresh tokens, however often it is refreshed, in the place of one for each token: all
-- tokens of a family begin alike. The digest of that beginning finds the row, and a token of the family whose
-- own digest is not the one kept was used before. A token from before is the first of its family.
CREATE TABLE oauth_refresh (
  family_sha256 TEXT PRIMARY KEY,
  grant_id TEXT NOT NULL REFERENCES oauth_grant (grant_id),
  refresh_sha256 TEXT NOT NULL
);
CREATE UNIQUE INDEX oauth_refresh_family_of_grant ON oauth_refresh (grant_id);

-- Every username an organization ever gave, for none is given twice. Of members removed before this table, those
-- of whom anything is left.
CREATE TABLE given_username (
  org_id TEXT NOT NULL,
  username TEXT NOT NULL,
  given_at INTEGER NOT NULL,
  PRIMARY KEY (org_id, username)
);

-- Batches of audited reads that were stored, by the id each had before its commit: one whose commit's outcome
-- nobody knows is tried again, and stored once. A mark goes when its process knows, or after a day.
CREATE TABLE audit_read_batch (
  batch_id TEXT PRIMARY KEY,
  made_at INTEGER NOT NULL
);
CREATE INDEX audit_read_batch_age ON audit_read_batch (made_at);

-- The newest time that was ever confirmed.
CREATE TABLE clock_mark (
  name TEXT PRIMARY KEY,
  millis INTEGER NOT NULL
);

-- Each process puts a row here now and then and takes it away in the same transaction, to learn whether the
-- store can be written. Nothing ever stays.
CREATE TABLE probe (
  probe_id TEXT PRIMARY KEY,
  filler TEXT NOT NULL
);

-- A browser in which an operator is signed in, by the digest of its cookie.
CREATE TABLE operator_session (
  session_sha256 TEXT PRIMARY KEY,
  token_id TEXT NOT NULL REFERENCES operator_token (token_id),
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
);
CREATE INDEX operator_session_of_token ON operator_session (token_id, created_at);
CREATE INDEX operator_session_expiry ON operator_session (expires_at);

-- key_id tells which, ciphertext is in base64.
CREATE TABLE encrypted_secret (
  name TEXT PRIMARY KEY,
  key_id TEXT NOT NULL,
  ciphertext TEXT NOT NULL,
  made_at INTEGER NOT NULL
);

-- Mails that wait for the mail server, encrypted, until one process has sent them. due_at is when one is
-- tried next; whoever tries it puts that off first. Once dead_at is set the mail was given up and is not
-- kept any more, and fault says why.
CREATE TABLE outbox_mail (
  mail_id TEXT PRIMARY KEY,
  key_id TEXT NOT NULL,
  ciphertext TEXT NOT NULL,
  accepted_at INTEGER NOT NULL,
  due_at INTEGER NOT NULL,
  tries INTEGER NOT NULL,
  dead_at INTEGER,
  fault TEXT
);
CREATE INDEX outbox_mail_due ON outbox_mail (due_at) WHERE dead_at IS NULL;
CREATE INDEX outbox_mail_dead ON outbox_mail (dead_at) WHERE dead_at IS NOT NULL;

-- Uploads. The state is open, completing, complete or aborting; each opening raises the epoch, which
-- the commits of earlier ones then miss; its objects are called the base with an epoch behind it.
CREATE TABLE blob_upload (
  store TEXT NOT NULL,
  upload TEXT NOT NULL,
  epoch INTEGER NOT NULL,
  state TEXT NOT NULL,
  base TEXT NOT NULL,
  object TEXT,
  multipart_id TEXT,
  bytes INTEGER NOT NULL,
  changed_at INTEGER NOT NULL,
  -- Until when the process that completes an upload and reads it back wants no other to open it; 0 for no such process.
  finishing_until INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (store, upload)
);
CREATE INDEX blob_upload_state ON blob_upload (store, state, changed_at);
CREATE INDEX blob_upload_multipart ON blob_upload (store, multipart_id)
  WHERE multipart_id IS NOT NULL;

-- Parts of multipart uploads that the store has taken, and the tags it gave them.
CREATE TABLE blob_part (
  store TEXT NOT NULL,
  upload TEXT NOT NULL,
  number INTEGER NOT NULL,
  tag TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  PRIMARY KEY (store, upload, number)
);

-- Objects that hold an upload's bytes behind its last part; kept is 1 once the object is there.
CREATE TABLE blob_piece (
  store TEXT NOT NULL,
  object TEXT NOT NULL,
  upload TEXT NOT NULL,
  start INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  kept INTEGER NOT NULL,
  made_at INTEGER NOT NULL,
  PRIMARY KEY (store, object)
);
CREATE INDEX blob_piece_upload ON blob_piece (store, upload, start);

-- Blobs and their objects.
CREATE TABLE blob (
  store TEXT NOT NULL,
  blob_key TEXT NOT NULL,
  object TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  stored_at INTEGER NOT NULL,
  PRIMARY KEY (store, blob_key)
);

-- Where it is: the blob that was taken up last, and what its pace is counted from. There is one row.
CREATE TABLE scrub_mark (
  name TEXT PRIMARY KEY,
  position TEXT NOT NULL,
  round INTEGER NOT NULL,
  round_since INTEGER NOT NULL,
  paced_from INTEGER NOT NULL,
  paced_bytes INTEGER NOT NULL,
  checked_blobs INTEGER NOT NULL,
  checked_bytes INTEGER NOT NULL,
  version INTEGER NOT NULL
);

-- The blobs that are being checked, or are to be checked next. Whoever takes one advances its
-- attempts, and goes on telling that it is at it.
CREATE TABLE scrub_claim (
  blob_key TEXT PRIMARY KEY,
  told_at INTEGER NOT NULL,
  attempts INTEGER NOT NULL
);

-- Blobs that were found lost or changed, until they are found whole or are of no more use.
CREATE TABLE scrub_fault (
  blob_key TEXT PRIMARY KEY,
  item_id TEXT NOT NULL,
  revision INTEGER NOT NULL,
  kind TEXT NOT NULL,
  detail TEXT NOT NULL,
  found_at INTEGER NOT NULL,
  checked_at INTEGER NOT NULL
);

-- A file of a set, by its place in the announcement. blob_key is null while its bytes are awaited.
CREATE TABLE checkpoint_file (
  item_id TEXT NOT NULL,
  revision INTEGER NOT NULL,
  number INTEGER NOT NULL,
  path TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  sha256 TEXT NOT NULL,
  blob_key TEXT,
  PRIMARY KEY (item_id, revision, number)
);
CREATE INDEX checkpoint_file_blob ON checkpoint_file (blob_key) WHERE blob_key IS NOT NULL;
CREATE INDEX checkpoint_file_first ON checkpoint_file (item_id, revision) WHERE number = 0;
CREATE INDEX checkpoint_file_digest ON checkpoint_file (item_id, revision, sha256);

-- The bytes of files of sets, shared among the sets of an organization: refs is how many rows of
-- checkpoint_file name them. The row goes with the last of those.
CREATE TABLE checkpoint_blob (
  blob_key TEXT PRIMARY KEY,
  org_id TEXT NOT NULL,
  sha256 TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  findings TEXT NOT NULL,
  refs INTEGER NOT NULL
);
CREATE INDEX checkpoint_blob_digest ON checkpoint_blob (org_id, sha256);

-- Moving stored files from one store of bytes to another. There is one row for the last move that was
-- asked for; left_blobs is what its last walk found to be done still, -1 before the first.
CREATE TABLE blob_move (
  name TEXT PRIMARY KEY,
  from_store TEXT NOT NULL,
  to_store TEXT NOT NULL,
  state TEXT NOT NULL,
  asked_at INTEGER NOT NULL,
  ended_at INTEGER,
  moved_blobs INTEGER NOT NULL,
  moved_bytes INTEGER NOT NULL,
  left_blobs INTEGER NOT NULL
);

-- Blobs that are being copied; whoever takes one advances its attempts, and goes on telling so.
CREATE TABLE blob_move_claim (
  blob_key TEXT PRIMARY KEY,
  told_at INTEGER NOT NULL,
  attempts INTEGER NOT NULL
);

-- Blobs that were moved, until they are deleted where they were.
CREATE TABLE blob_moved (
  blob_key TEXT NOT NULL,
  store TEXT NOT NULL,
  moved_at INTEGER NOT NULL,
  PRIMARY KEY (store, blob_key)
);
CREATE INDEX blob_moved_age ON blob_moved (store, moved_at);

-- Blobs that cannot be moved, because they are lost or changed where they are.
CREATE TABLE blob_move_fault (
  blob_key TEXT PRIMARY KEY,
  item_id TEXT NOT NULL,
  revision INTEGER NOT NULL,
  detail TEXT NOT NULL,
  found_at INTEGER NOT NULL
);

-- Folders on disks of single processes, and since when and until when such a process has told of its.
CREATE TABLE scrub_folder (
  folder TEXT PRIMARY KEY,
  since INTEGER NOT NULL,
  told_at INTEGER NOT NULL
);

-- Which folders do not have a blob that is to be checked, as of when they were looked through.
CREATE TABLE scrub_absence (
  blob_key TEXT NOT NULL,
  folder TEXT NOT NULL,
  seen_at INTEGER NOT NULL,
  PRIMARY KEY (blob_key, folder)
);

-- Reads of an organization's trail that were flushed together, as one row of many entries. Ids are
-- of the one sequence of all trails: a commit with segments has a row of audit above them, so the
-- greatest id of audit is the greatest of all. The body has the entries, skips the ids between them
-- that others took, actors a filter that tells most segments without an actor.
CREATE TABLE audit_read_segment (
  first_id INTEGER PRIMARY KEY,
  last_id INTEGER NOT NULL,
  org_id TEXT NOT NULL,
  entry_count INTEGER NOT NULL,
  skips TEXT NOT NULL,
  actors BLOB NOT NULL,
  body BLOB NOT NULL
);
CREATE INDEX audit_read_segment_of_org ON audit_read_segment (org_id, first_id);

-- In which stretches of ids (65,536 each) of an organization's trail an actor's reads may be, for pages
-- of one actor: its segments would have to be looked for in all others else. Made when they are sealed.
CREATE TABLE audit_read_actor (
  org_id TEXT NOT NULL,
  actor TEXT NOT NULL,
  stretch INTEGER NOT NULL,
  PRIMARY KEY (org_id, actor, stretch)
) WITHOUT ROWID;
CREATE INDEX audit_read_actor_of_stretch ON audit_read_actor (org_id, stretch);

-- Which processes of the store are there, until when this counts, and which tasks of upkeep each does,
-- a line each: the tasks are dealt out among them.
CREATE TABLE upkeep_process (
  process TEXT PRIMARY KEY,
  tasks TEXT NOT NULL,
  expires_at INTEGER NOT NULL
) WITHOUT ROWID;

-- Where organizations want to be told of what happens. kinds has labels with a space between two; clusters a JSON
-- array of names, null for all. The secret is in encrypted_secret under webhook/<endpoint_id>/<secret_version>; the
-- version before signs beside it until old_secret_until.
CREATE TABLE webhook_endpoint (
  endpoint_id TEXT PRIMARY KEY,
  org_id TEXT NOT NULL REFERENCES org (org_id),
  url TEXT NOT NULL,
  description TEXT NOT NULL,
  kinds TEXT NOT NULL,
  clusters TEXT,
  created_at INTEGER NOT NULL,
  created_by TEXT NOT NULL,
  disabled_at INTEGER,
  disabled_reason TEXT,
  secret_version INTEGER NOT NULL,
  old_secret_until INTEGER,
  revision INTEGER NOT NULL,
  -- The actor that last set an address; null while it is as the actor in created_by set it. A process of the previous
  -- release that changes an address does not set the actor, so the address counts as an earlier author's.
  url_by TEXT
);
CREATE INDEX webhook_endpoint_of_org ON webhook_endpoint (org_id);
CREATE INDEX webhook_endpoint_rotated ON webhook_endpoint (old_secret_until) WHERE old_secret_until IS NOT NULL;

-- How far an organization with endpoints has been told: the last id of a cluster's activity, or of the organization's
-- trail, whose source is ''. The source '*' tells where clusters without a row of their own begin. at is the time of
-- that entry.
CREATE TABLE webhook_cursor (
  org_id TEXT NOT NULL,
  source TEXT NOT NULL,
  position INTEGER NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (org_id, source)
);
CREATE INDEX webhook_cursor_of_source ON webhook_cursor (source, org_id);

-- One event for one endpoint. It waits while outcome is null; those of one endpoint and source are sent by position.
-- due_at and first_try_at concern the retries of the one that is being tried.
CREATE TABLE webhook_delivery (
  id INTEGER GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  endpoint_id TEXT NOT NULL,
  source TEXT NOT NULL,
  position INTEGER NOT NULL,
  message_id TEXT NOT NULL,
  kind TEXT NOT NULL,
  body TEXT NOT NULL,
  made_at INTEGER NOT NULL,
  due_at INTEGER NOT NULL,
  tries INTEGER NOT NULL,
  first_try_at INTEGER,
  last_try_at INTEGER,
  status INTEGER,
  fault TEXT,
  outcome TEXT
);
CREATE UNIQUE INDEX webhook_delivery_message ON webhook_delivery (endpoint_id, message_id);
CREATE INDEX webhook_delivery_waiting ON webhook_delivery (endpoint_id, source, position) WHERE outcome IS NULL;
CREATE INDEX webhook_delivery_of_endpoint ON webhook_delivery (endpoint_id, id);
CREATE INDEX webhook_delivery_age ON webhook_delivery (made_at);

-- How often endpoints were made, changed or deleted: by this the process that delivers sees that one was.
CREATE TABLE webhook_change (
  name TEXT PRIMARY KEY,
  changes INTEGER NOT NULL
);

-- Which process delivers.
CREATE TABLE webhook_lease (
  name TEXT PRIMARY KEY,
  owner TEXT NOT NULL,
  expires_at INTEGER NOT NULL
);

-- Where organizations have their trail sent, a sealed batch at a time: to an address, or to s3://… with access_key_id.
-- The secret that signs, or that the object store demands, is in encrypted_secret under
-- trail-stream/<stream_id>/<secret_version>; the version before signs beside it until old_secret_until. writes_batch
-- and reads_batch are the last batches that the receiver has taken of each chain; reads_batch is null before reads
-- were first asked for. tries to fault concern the batch that is next.
CREATE TABLE trail_stream (
  org_id TEXT PRIMARY KEY REFERENCES org (org_id),
  stream_id TEXT NOT NULL,
  destination TEXT NOT NULL,
  access_key_id TEXT,
  include_reads INTEGER NOT NULL,
  writes_batch INTEGER NOT NULL,
  reads_batch INTEGER,
  tries INTEGER NOT NULL,
  first_try_at INTEGER,
  last_try_at INTEGER,
  next_try_at INTEGER NOT NULL,
  status INTEGER,
  fault TEXT,
  disabled_at INTEGER,
  disabled_reason TEXT,
  secret_version INTEGER NOT NULL,
  old_secret_until INTEGER,
  revision INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  created_by TEXT NOT NULL,
  destination_by TEXT
);
CREATE INDEX trail_stream_rotated ON trail_stream (old_secret_until) WHERE old_secret_until IS NOT NULL;

-- Change points of the ceilings that ticks read.
CREATE TABLE ceiling_point (
  cluster TEXT NOT NULL REFERENCES cluster (name),
  ts INTEGER NOT NULL,
  ceiling_cents INTEGER NOT NULL,
  priced_at INTEGER NOT NULL,
  PRIMARY KEY (cluster, ts)
);

-- Change points of organizations' prices that differ from the pool's clearing price; null when they are equal again.
CREATE TABLE org_price_point (
  pool TEXT NOT NULL REFERENCES pool (name),
  org_id TEXT NOT NULL REFERENCES org (org_id),
  ts INTEGER NOT NULL,
  cents INTEGER,
  PRIMARY KEY (pool, org_id, ts)
);

-- That a machine was cleaned after an allocation, and what was done.
CREATE TABLE handover (
  allocation_id TEXT PRIMARY KEY,
  node_id TEXT NOT NULL,
  cleaned_at INTEGER NOT NULL,
  seconds INTEGER NOT NULL,
  processes INTEGER NOT NULL,
  files INTEGER NOT NULL,
  objects INTEGER NOT NULL,
  baseline TEXT
);
CREATE INDEX handover_of_node ON handover (node_id, cleaned_at);

