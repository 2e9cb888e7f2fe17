-- serves-from: 57
-- The declaration lapses when every GPU has been idle for so long, counted from the write that set it at the earliest.
ALTER TABLE cluster ADD COLUMN idle_millis INTEGER;
ALTER TABLE cluster ADD COLUMN idle_since INTEGER;
-- Nodes of such clusters: since when the node's agent says that it has been idle, and when a report said so last. A
-- later report that a node was not idle before broken_at voids a record of an earlier beginning.
CREATE TABLE node_idleness (
  allocation_id TEXT PRIMARY KEY,
  since_at INTEGER NOT NULL,
  heard_at INTEGER NOT NULL,
  broken_at INTEGER
);
CREATE INDEX node_idleness_heard ON node_idleness (heard_at);
