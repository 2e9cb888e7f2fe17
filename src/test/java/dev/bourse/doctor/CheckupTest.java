package dev.bourse.doctor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.doctor.Finding.Verdict;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

/** Checks run in parallel: none waits for another, or hides its failure. */
class CheckupTest {
  private static final Duration LONG = Duration.ofMinutes(2);

  private final CountDownLatch never = new CountDownLatch(1);

  @Test
  void oneThatHangsTellsWhatItHadSeenAndTheOthersAllTheySaw() {
    List<Finding> findings =
        new Checkup(Duration.ofSeconds(3))
            .of(
                List.of(
                    new Check(
                        "hangs",
                        notes -> {
                          notes.see("it connects");
                          never.await();
                        }),
                    new Check("looks", notes -> notes.see("all is well"))));
    assertEquals(Verdict.FAULT, findings.get(0).verdict());
    assertEquals(List.of("it connects", "no answer within 3 s"), findings.get(0).seen());
    assertEquals(
        new Finding("looks", Verdict.OK, List.of("all is well"), List.of(), false),
        findings.get(1));
  }

  @Test
  void theyLookSideBySide() {
    CountDownLatch both = new CountDownLatch(2);
    Check.Look meets =
        notes -> {
          both.countDown();
          both.await();
          notes.see("the other looks too");
        };
    List<Finding> findings =
        new Checkup(LONG).of(List.of(new Check("one", meets), new Check("other", meets)));
    assertTrue(findings.stream().allMatch(one -> one.verdict() == Verdict.OK), findings.toString());
  }

  @Test
  void aFailureIsAFaultWithItsMessage() {
    List<Finding> findings =
        new Checkup(LONG)
            .of(
                List.of(
                    new Check(
                        "fails",
                        notes -> {
                          throw new IOException("the cable is out");
                        }),
                    new Check(
                        "is wrong",
                        notes -> {
                          throw new IllegalStateException();
                        })));
    assertEquals(List.of("the cable is out"), findings.get(0).seen());
    assertEquals(List.of("java.lang.IllegalStateException"), findings.get(1).seen());
    assertTrue(findings.stream().allMatch(one -> one.verdict() == Verdict.FAULT));
  }

  @Test
  void theWorstThatWasSeenCounts() {
    Notes notes = new Notes();
    assertEquals(Verdict.SKIPPED, notes.finding("none").verdict());
    notes.see("fine");
    notes.warn("so so", "look after it");
    notes.see("fine again");
    assertEquals(
        new Finding(
            "several",
            Verdict.WARNING,
            List.of("fine", "so so", "fine again"),
            List.of("look after it"),
            false),
        notes.finding("several"));
  }
}
