/** Parameters and fields of several contracts' operations, in the form of the API. */
@NullMarked
package dev.bourse.edge.fields;

import org.jspecify.annotations.NullMarked;
