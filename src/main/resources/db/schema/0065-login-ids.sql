-- serves-from: 57
-- Ids by which machines and shared file systems know tenants: the user id of an allocation ('allocation ID') and the
-- group id of an organization ('org ID'). Rows are never deleted, so that no id is given a second time.
CREATE TABLE login_id (
  id INTEGER PRIMARY KEY,
  owner TEXT NOT NULL UNIQUE
);
