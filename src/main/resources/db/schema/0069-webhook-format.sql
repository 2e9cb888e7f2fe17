-- serves-from: 57
-- The form in which an endpoint receives events: standard, or slack. Deliveries keep the standard body, and the body
-- that is sent is made from it, so a delivery that the previous release created is sent in the endpoint's format too.
ALTER TABLE webhook_endpoint ADD COLUMN format TEXT NOT NULL DEFAULT 'standard';
