/** The organization as its own tokens see it: who am I, what may I address. */
@NullMarked
package dev.bourse.org;

import org.jspecify.annotations.NullMarked;
