-- By what a member tells their sessions and applications apart, and the links mailed with an invitation.
ALTER TABLE member_session ADD COLUMN user_agent TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE member_session ADD COLUMN address TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE oauth_grant ADD COLUMN used_at BIGINT;
CREATE INDEX sign_in_link_of_invitation ON sign_in_link (org_id, email) WHERE org_id IS NOT NULL;
