-- serves-from: 57
-- The member's address that the mail of an invitation names, empty for an operator: another member may renew the
-- invitation, and each renewal sends a link of its own.
-- Null for other links, and for those of a release before this column.
ALTER TABLE sign_in_link ADD COLUMN inviter TEXT;
