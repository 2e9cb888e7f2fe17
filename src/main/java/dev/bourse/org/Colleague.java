package dev.bourse.org;

import dev.bourse.org.Directory.Person;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A member as the others of the organization see them.
 *
 * @param email as the directory has it, else as stored here
 * @param name for people to read, as the directory has it, else as stored here
 * @param suspended here or in the directory
 * @param createdAtMillis since when they are a member
 * @param lastLoginAtMillis their last sign-in, null for none that is known
 * @param liveTokens how many live API tokens they minted, which go when they go
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
   * A member together with what a directory knows of them.
   *
   * @param person empty while the directory does not tell
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
