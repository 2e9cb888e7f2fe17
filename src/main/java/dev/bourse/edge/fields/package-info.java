/**
 * Parameters and fields that operations of several contracts have in common, as answers spell them.
 */
@NullMarked
package dev.bourse.edge.fields;

import org.jspecify.annotations.NullMarked;
