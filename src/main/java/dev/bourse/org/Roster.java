package dev.bourse.org;

import dev.bourse.core.Text;
import dev.bourse.org.Directory.Person;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * An organization's members as its directory tells of them, who may join, and who is invited.
 *
 * @param invited rules of kind email that no member has consumed
 */
record Roster(List<ShownMember> members, List<JoinRule> rules, List<JoinRule> invited) {

  /** A member, with empty texts where the directory does not tell. */
  record ShownMember(
      String username,
      String email,
      String name,
      boolean active,
      @Nullable Long lastLoginAtMillis) {}

  static Roster of(List<Member> members, Map<String, Person> people, List<JoinRule> rules) {
    List<ShownMember> entries = new ArrayList<>();
    Set<String> carried = new HashSet<>();
    for (Member member : members) {
      String username = member.username();
      Person person = people.get(username);
      if (person == null) {
        // Nothing is known of the account now, and nobody is shown as suspended on no evidence.
        entries.add(new ShownMember(username, "", "", true, null));
      } else {
        entries.add(
            new ShownMember(
                username,
                person.email(),
                person.name(),
                person.active() && member.suspendedAtMillis() == null,
                person.lastLoginAtMillis()));
      }
      carried.add(Text.folded(member.email()));
      carried.add(
          Text.folded(person == null || person.email().isEmpty() ? username : person.email()));
    }
    List<JoinRule> invited =
        rules.stream()
            .filter(rule -> rule.kind() == JoinRule.Kind.EMAIL)
            .filter(rule -> !isConsumed(Text.folded(rule.value()), carried))
            .toList();
    return new Roster(List.copyOf(entries), rules, invited);
  }

  /**
   * Whether a member carries the address: the addresses that members joined with, those that the
   * directory tells and, of members of whom it tells none, usernames, which are an address or the
   * part of one before its {@code @}.
   */
  private static boolean isConsumed(String address, Set<String> carried) {
    int at = address.lastIndexOf('@');
    return carried.contains(address) || (at > 0 && carried.contains(address.substring(0, at)));
  }
}
