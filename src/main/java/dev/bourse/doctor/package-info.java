/**
 * Looks at what surrounds a service, for {@code bourse doctor}: its disk, its database, and the
 * servers that its settings name.
 *
 * <p>A {@link dev.bourse.doctor.Check} looks at one thing and writes into {@link
 * dev.bourse.doctor.Notes} what it sees and what to do about it; a {@link
 * dev.bourse.doctor.Checkup} has several look side by side, each bounded, and makes a {@link
 * dev.bourse.doctor.Finding} of each. How a server is spoken to is known by the package that speaks
 * to it when the service runs: each has a probe for this one.
 *
 * <p>Rejected: to look from within a running service. What keeps it from starting could not be
 * looked at, and one of several processes would tell of its own machine alone.
 */
@NullMarked
package dev.bourse.doctor;

import org.jspecify.annotations.NullMarked;
