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
  revision INTEGER NOT NULL
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
  id INTEGER PRIMARY KEY,
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
