/** Bourse, a GPU-capacity exchange: one way in, one way through (see the package of each part). */
@NullMarked
package dev.bourse;

import org.jspecify.annotations.NullMarked;
