package dev.bourse.org;

import dev.bourse.org.Directory.Person;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A member as the others of the organization see them.
 *
 * @param email from the directory, else as stored here
 * @param name the display name from the directory, else as stored here
 * @param suspended whether suspended here or in the directory
 * @param createdAtMillis when they became a member
 * @param lastLoginAtMillis their last known sign-in, null for none
 * @param liveTokens the number of live API tokens they minted, which are revoked when the member is
 *     removed
 */
public record Colleague(
    String username,
    String email,
    String name,
    boolean suspended,
    long createdAtMillis,
    @Nullable Long lastLoginAtMillis,
    long liveTokens) {
  /**
   * A member combined with the directory's data.
   *
   * @param person empty if the directory has no data on them
   */
  static Colleague of(Member member, Optional<Person> person, long liveTokens) {
    return new Colleague(
        member.username(),
        person.map(Person::email).filter(email -> !email.isEmpty()).orElse(member.email()),
        person.map(Person::name).filter(name -> !name.isEmpty()).orElse(member.name()),
        member.suspendedAtMillis() != null || !person.map(Person::active).orElse(true),
        member.createdAtMillis(),
        person.map(Person::lastLoginAtMillis).orElse(member.lastLoginAtMillis()),
        liveTokens);
  }
}
