-- In which stretches of ids (65,536 each) of an organization's trail an actor's reads may be, for pages
-- of one actor: its segments would have to be looked for in all others else. Made when they are sealed.
CREATE TABLE audit_read_actor (
  org_id TEXT COLLATE "C" NOT NULL,
  actor TEXT COLLATE "C" NOT NULL,
  stretch BIGINT NOT NULL,
  PRIMARY KEY (org_id, actor, stretch)
);
CREATE INDEX audit_read_actor_of_stretch ON audit_read_actor (org_id, stretch);
