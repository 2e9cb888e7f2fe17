package dev.bourse.org;

import dev.bourse.core.Text;
import dev.bourse.org.Directory.Person;
import dev.bourse.schemas.org.InvitationJson;
import dev.bourse.schemas.org.JoinRuleJson;
import dev.bourse.schemas.org.MemberJson;
import dev.bourse.schemas.org.RosterJson;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * An organization's members with their directory data, its join rules, and its open invitations.
 *
 * @param invited rules of kind email that no member has used
 */
record Roster(List<ShownMember> members, List<JoinRule> rules, List<JoinRule> invited) {

  /** A member, with empty texts for data that the directory does not have. */
  record ShownMember(
      String username,
      String email,
      String name,
      boolean active,
      @Nullable Long lastLoginAtMillis) {}

  /** Returns the answer of the contract. */
  RosterJson toJson() {
    return new RosterJson(
        members.stream()
            .map(
                member ->
                    new MemberJson(
                        member.username(),
                        member.email(),
                        member.name(),
                        member.active(),
                        member.lastLoginAtMillis(),
                        "admin"))
            .toList(),
        rules.stream()
            .map(
                rule ->
                    new JoinRuleJson(
                        rule.ruleId(), rule.kind().label(), rule.value(), rule.state()))
            .toList(),
        invited.stream()
            .map(
                rule ->
                    new InvitationJson(
                        rule.ruleId(),
                        rule.value(),
                        rule.createdAtMillis(),
                        rule.createdBy(),
                        rule.linkExpiresAtMillis()))
            .toList());
  }

  static Roster of(List<Member> members, Map<String, Person> people, List<JoinRule> rules) {
    List<ShownMember> entries = new ArrayList<>();
    Set<String> carried = new HashSet<>();
    for (Member member : members) {
      String username = member.username();
      Person person = people.get(username);
      if (person == null) {
        // No data on the account is available, and missing data is no evidence of a suspension.
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
   * Whether a member has the address. Compares it with the addresses that members joined with,
   * those in the directory and, for members without directory data, usernames, which are an address
   * or its part before the {@code @}.
   */
  private static boolean isConsumed(String address, Set<String> carried) {
    int at = address.lastIndexOf('@');
    return carried.contains(address) || (at > 0 && carried.contains(address.substring(0, at)));
  }
}
