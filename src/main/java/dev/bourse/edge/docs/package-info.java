/**
 * The pages that anybody may read: contracts as JSON, their reference for browsers, and the texts
 * that lead programs there.
 */
@NullMarked
package dev.bourse.edge.docs;

import org.jspecify.annotations.NullMarked;
