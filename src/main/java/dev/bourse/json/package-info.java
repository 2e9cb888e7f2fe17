/**
 * JSON as bytes: bodies of requests are read strictly ({@link dev.bourse.json.StrictJson}), and
 * what each declaration writes, its answer and the word to other processes, is written without a
 * tree ({@link dev.bourse.json.JsonBytes}). All other JSON is written from trees, which are easier
 * to read and quick enough.
 */
@NullMarked
package dev.bourse.json;

import org.jspecify.annotations.NullMarked;
