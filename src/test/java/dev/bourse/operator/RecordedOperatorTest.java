package dev.bourse.operator;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.bourse.core.Page;
import dev.bourse.org.Member;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The exact text of the operators' answers, with a distinct value in each member, so that values
 * that change places are found. A member that is added to a contract is added here as well; a
 * change of the recorded text changes the interface.
 */
@Tag("fast")
class RecordedOperatorTest {
  private static final long T0 = 1_700_000_000_000L;

  private static final Member MEMBER =
      new Member("acme", "alice", "a@acme.example", "Alice é", T0 + 1, T0 + 2, T0 + 3);

  @Test
  void members() {
    assertEquals(
        """
        {"members":[{"username":"alice","email":"a@acme.example","name":"Alice é",\
        "created_at":"2023-11-14T22:13:20.001Z","last_login_at":"2023-11-14T22:13:20.002Z",\
        "suspended_at":"2023-11-14T22:13:20.003Z"}],"more":true,"next":"alice"}\
        """,
        MemberAdminRoutes.toJson(new Page<>(List.of(MEMBER), true)).toBuffer().toString());
  }
}
