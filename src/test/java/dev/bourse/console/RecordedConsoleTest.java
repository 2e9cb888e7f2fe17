package dev.bourse.console;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.bourse.core.Page;
import dev.bourse.org.Colleague;
import dev.bourse.org.JoinRule;
import dev.bourse.org.JoinRuleService;
import dev.bourse.org.Member;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The exact text of the console's answers, with a distinct value in each member, so that values
 * that change places are found. A member that is added to a contract is added here as well; a
 * change of the recorded text changes the interface.
 */
@Tag("fast")
class RecordedConsoleTest {
  private static final long T0 = 1_700_000_000_000L;

  private static final Member MEMBER =
      new Member("acme", "alice", "a@acme.example", "Alice é", T0 + 1, T0 + 2, T0 + 3);

  @Test
  void invitationsAndTheEffectOfARule() {
    JoinRule rule =
        new JoinRule(
            "jr_4bv5dgA9pFVg",
            "acme",
            JoinRule.Kind.EMAIL,
            "erin@partner.example",
            T0 + 1,
            "member:bob",
            T0 + 2,
            null,
            null);
    assertEquals(
        """
        {"invitations":[{"rule_id":"jr_4bv5dgA9pFVg","email":"erin@partner.example",\
        "created_at":"2023-11-14T22:13:20.001Z","created_by":"member:bob",\
        "link_expires_at":"2023-11-14T22:13:20.002Z"}]}\
        """,
        JoinRuleRoutes.invitations(List.of(rule)).toBuffer().toString());
    assertEquals(
        """
        {"members":[{"username":"alice","email":"a@acme.example","name":"Alice é"}],\
        "kind":"domain","value":"acme.example","exists":true,"member_count":3,\
        "invited":["f@acme.example"],"removed_count":4}\
        """,
        JoinRuleRoutes.toJson(
                new JoinRuleService.Preview(
                    JoinRule.Kind.DOMAIN,
                    "acme.example",
                    true,
                    List.of(MEMBER),
                    3,
                    List.of("f@acme.example"),
                    4))
            .toBuffer()
            .toString());
  }

  @Test
  void members() {
    Colleague colleague =
        new Colleague("alice", "a@acme.example", "Alice é", true, T0 + 1, T0 + 2, 5);
    assertEquals(
        """
        {"members":[{"username":"alice","email":"a@acme.example","name":"Alice é",\
        "suspended":true,"created_at":"2023-11-14T22:13:20.001Z",\
        "last_login_at":"2023-11-14T22:13:20.002Z","live_tokens":5}],"more":true,\
        "next":"alice"}\
        """,
        MemberRoutes.toJson(new Page<>(List.of(colleague), true)).toBuffer().toString());
  }
}
