/**
 * JSON as bytes: {@link dev.bourse.json.StrictJson} reads request bodies strictly, and {@link
 * dev.bourse.json.JsonBytes} writes the output of each declaration, its answer and its message to
 * other processes, without a tree. All other JSON is written from trees, which are easier to read
 * and fast enough.
 */
@NullMarked
package dev.bourse.json;

import org.jspecify.annotations.NullMarked;
