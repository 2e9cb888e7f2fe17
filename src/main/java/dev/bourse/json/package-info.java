/**
 * JSON as bytes. {@link dev.bourse.json.StrictJson} parses request bodies strictly. {@link
 * dev.bourse.json.JsonBytes} writes objects without a tree, among them the records that are
 * generated from the contracts ({@link dev.bourse.json.JsonRecord}); {@link
 * dev.bourse.json.JsonReader} reads the records of requests, and {@link dev.bourse.json.Setting}
 * keeps absent, null and a value apart. Contracts without records still use trees.
 */
@NullMarked
package dev.bourse.json;

import org.jspecify.annotations.NullMarked;
