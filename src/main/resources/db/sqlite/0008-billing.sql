-- Money is whole micro-dollars, a month is 202611 for November 2026.

-- Why money moved. The key makes it unique, so that nothing is booked twice; effective_at tells the
-- month it belongs to.
CREATE TABLE ledger_transaction (
  id INTEGER PRIMARY KEY,
  tx_key TEXT NOT NULL UNIQUE,
  made_at INTEGER NOT NULL,
  effective_at INTEGER NOT NULL,
  month INTEGER NOT NULL,
  kind TEXT NOT NULL,
  org_id TEXT NOT NULL REFERENCES org (org_id),
  actor TEXT NOT NULL,
  memo TEXT NOT NULL
);
CREATE INDEX ledger_of_org ON ledger_transaction (org_id, id);
CREATE INDEX ledger_of_month ON ledger_transaction (org_id, month, kind);

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
  hold_enforced INTEGER NOT NULL DEFAULT 0
);

-- Up to when everybody's usage is posted.
CREATE TABLE billing_posted (
  name TEXT PRIMARY KEY,
  through INTEGER NOT NULL
);
