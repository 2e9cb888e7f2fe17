package dev.bourse.command;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.remote.ExitCode;
import dev.bourse.remote.RefusedException;
import io.vertx.core.json.JsonObject;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A yes only counts for the losses that were shown. */
@Tag("fast")
class ConfirmPromptTest {
  private final StringWriter err = new StringWriter();

  private static Question losing(String... nodes) {
    return new Question(List.of("loses " + String.join(" and ", nodes)), Set.of(nodes));
  }

  /** Says yes to a first question while the next ones come up. */
  private void agree(Question first, Question... later) throws RefusedException {
    Queue<Question> next = new ArrayDeque<>(List.of(later));
    new ConfirmPrompt(() -> Optional.of("y"), "")
        .require(new PrintWriter(err, true), first, next::remove);
  }

  private long questions() {
    return err.toString().split("\\[y/N]", -1).length - 1L;
  }

  @Test
  void nodesGrantedWhileTheQuestionIsOpenAreAskedAbout() throws RefusedException {
    agree(losing("n1"), losing("n1", "n2"), losing("n1", "n2"));
    assertEquals(2, questions());
    assertTrue(err.toString().contains("More is lost than when you were asked:\nloses n1 and n2"));
  }

  @Test
  void fewerLossesThanShownNeedNoSecondQuestion() throws RefusedException {
    agree(losing("n1", "n2"), losing("n2"));
    assertEquals(1, questions());
  }

  @Test
  void lossesThatKeepChangingAreRefused() {
    RefusedException refused =
        assertThrows(
            RefusedException.class,
            () -> agree(losing("n1"), losing("n2"), losing("n3"), losing("n4"), losing("n5")));
    assertEquals(ExitCode.REFUSED, refused.exitCode());
    assertEquals(3, questions());
    assertTrue(refused.getMessage().startsWith("nothing was done: "), refused.getMessage());
  }

  @Test
  void lossesThatCannotBeReadAnyMoreAreAskedAbout() throws RefusedException {
    Question unread = Question.unread(refused(503));
    agree(losing("n1"), unread, unread);
    assertEquals(2, questions());
  }

  private static RefusedException refused(int status) {
    return new RefusedException(ExitCode.REFUSED, "not now", status, new JsonObject());
  }

  @Test
  void anEmptyLineIsNoYes() {
    RefusedException refused =
        assertThrows(
            RefusedException.class,
            () ->
                new ConfirmPrompt(() -> Optional.of(""), "")
                    .require(new PrintWriter(err), losing("n1"), () -> losing("n1")));
    assertEquals("nothing was done", refused.getMessage());
    assertEquals(ExitCode.REFUSED, refused.exitCode());
  }

  @Test
  void aReadThatIsForbiddenOrFailsIsToldAndOthersRefuse() throws RefusedException {
    for (int status : List.of(403, 429, 500, 503)) {
      assertEquals(
          List.of("What is lost cannot be shown: not now"),
          Question.unread(refused(status)).lines());
    }
    for (int status : List.of(0, 401, 404, 409, 410, 422)) {
      assertThrows(RefusedException.class, () -> Question.unread(refused(status)), status + "");
    }
  }
}
