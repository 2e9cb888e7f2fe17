/**
 * Checks of a service's environment, for {@code bourse doctor}: its disk, its database, and the
 * servers that its settings name.
 *
 * <p>A {@link dev.bourse.doctor.Check} inspects one thing and records its observations and advice
 * in {@link dev.bourse.doctor.Notes}. A {@link dev.bourse.doctor.Checkup} runs checks in parallel
 * with a time-out, and returns a {@link dev.bourse.doctor.Finding} for each. The package that talks
 * to a server at run time also has the probe that a check uses.
 *
 * <p>Rejected: checking from inside a running service. A service that does not start could not be
 * checked, and each replica would only see its own machine.
 */
@NullMarked
package dev.bourse.doctor;

import org.jspecify.annotations.NullMarked;
