package dev.bourse.history;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A recorded history as it should be, and what is wrong planted into it. */
class LinearizabilityCheckerTest {
  /** Two writers at one cluster through two processes, a key that comes and goes. */
  private static final List<String> CLEAN =
      """
      {"lag":1000}
      {"id":"a-1","process":"p","kind":"WRITE","subject":"train","invoked":10,"completed":20,"expected":0,"sent":"8 at 2","outcome":"ACKNOWLEDGED","version":1}
      {"id":"b-1","process":"q","kind":"WRITE","subject":"train","invoked":12,"completed":24,"expected":0,"sent":"8 at 3","outcome":"REFUSED","shown":"version-mismatch"}
      {"id":"a-2","process":"p","kind":"READ","subject":"train","invoked":30,"completed":31,"outcome":"ACKNOWLEDGED","version":1,"shown":"8 at 2"}
      {"id":"b-2","process":"q","kind":"READ","subject":"train","invoked":30,"completed":31,"outcome":"ACKNOWLEDGED","version":0,"shown":"nothing"}
      {"id":"b-3","process":"q","kind":"WRITE","subject":"train","invoked":40,"completed":60,"expected":1,"sent":"16 at 3","outcome":"UNKNOWN"}
      {"id":"a-3","process":"p","kind":"WRITE","subject":"train","invoked":70,"completed":80,"expected":2,"sent":"0 at 3","outcome":"ACKNOWLEDGED","version":3}
      {"id":"b-4","process":"q","kind":"READ","subject":"train","invoked":2000,"completed":2001,"outcome":"ACKNOWLEDGED","version":3,"shown":"0 at 3"}
      {"id":"a-4","process":"p","kind":"ADD","subject":"keys","invoked":10,"completed":20,"sent":"k1","outcome":"ACKNOWLEDGED"}
      {"id":"a-5","process":"p","kind":"LIST","subject":"keys","invoked":30,"completed":31,"outcome":"ACKNOWLEDGED","shown":"k1"}
      {"id":"a-6","process":"p","kind":"REMOVE","subject":"keys","invoked":40,"completed":50,"sent":"k1","outcome":"ACKNOWLEDGED"}
      {"id":"b-5","process":"q","kind":"LOOK","subject":"keys","invoked":60,"completed":61,"sent":"k1","outcome":"ACKNOWLEDGED","shown":"present"}
      {"id":"b-6","process":"q","kind":"LOOK","subject":"keys","invoked":2000,"completed":2001,"sent":"k1","outcome":"ACKNOWLEDGED","shown":"absent"}
      {"id":"b-7","process":"q","kind":"ADD","subject":"keys","invoked":3000,"completed":3001,"sent":"k2","outcome":"UNKNOWN"}
      {"cluster":"train","version":3,"declared":"0 at 3"}
      {"set":"keys","members":["k2"]}
      {"row":"WRITE","subject":"train","version":1,"what":"8 at 2"}
      {"row":"WRITE","subject":"train","version":2,"what":"16 at 3"}
      {"row":"WRITE","subject":"train","version":3,"what":"0 at 3"}
      {"row":"ADD","subject":"keys","version":0,"what":"k1"}
      {"row":"REMOVE","subject":"keys","version":0,"what":"k1"}
      {"row":"ADD","subject":"keys","version":0,"what":"k2"}
      """
          .lines()
          .toList();

  private static List<HistoryViolation> check(Stream<String> lines) {
    return LinearizabilityChecker.check(History.read(lines));
  }

  /** What is found once lines with this text are changed so. */
  private static List<HistoryViolation> changed(String line, String from, String to) {
    assertTrue(CLEAN.stream().anyMatch(l -> l.contains(line) && l.contains(from)), line);
    return check(CLEAN.stream().map(l -> l.contains(line) ? l.replace(from, to) : l));
  }

  private static List<HistoryViolation> with(String line) {
    return check(Stream.concat(CLEAN.stream(), Stream.of(line)));
  }

  private static List<HistoryViolation> without(String line) {
    assertTrue(CLEAN.stream().anyMatch(l -> l.contains(line)), line);
    return check(CLEAN.stream().filter(l -> !l.contains(line)));
  }

  private static void assertFound(
      List<HistoryViolation> found, HistoryViolation.Kind kind, String... mentioned) {
    assertTrue(
        found.stream()
            .anyMatch(
                v ->
                    v.kind() == kind
                        && Stream.of(mentioned).allMatch(text -> v.message().contains(text))),
        () -> kind + " is not among " + found);
  }

  @Test
  void aHistoryAsItShouldBePasses(@TempDir Path folder) throws IOException {
    assertEquals(List.of(), check(CLEAN.stream()));
    History clean = History.read(CLEAN.stream());
    clean.write(folder.resolve("history.jsonl"));
    assertEquals(clean, History.read(folder.resolve("history.jsonl")));
  }

  @Test
  void anAcknowledgedWriteThatIsNotStoredIsLost() {
    List<String> lost = new ArrayList<>(CLEAN);
    lost.removeIf(l -> l.contains("\"row\":\"WRITE\"") && l.contains("\"version\":3"));
    lost.replaceAll(
        l ->
            l.replace(
                "\"version\":3,\"declared\":\"0 at 3\"", "\"version\":2,\"declared\":\"16 at 3\""));
    assertFound(check(lost.stream()), HistoryViolation.Kind.LOST, "a-3", "train");
  }

  @Test
  void aReadThatDoesNotShowWhatItsProcessAcknowledgedIsStale() {
    assertFound(
        changed("a-2", "\"version\":1,\"shown\":\"8 at 2\"", "\"version\":0,\"shown\":\"nothing\""),
        HistoryViolation.Kind.STALE,
        "a-2",
        "a-1");
  }

  @Test
  void aReplicaMayLagForItsTimeAndNoLonger() {
    String old = "\"version\":1,\"shown\":\"8 at 2\"";
    assertFound(
        changed("b-4", "\"version\":3,\"shown\":\"0 at 3\"", old),
        HistoryViolation.Kind.STALE,
        "b-4",
        "a-3");
    List<String> cutOff = new ArrayList<>(CLEAN);
    cutOff.replaceAll(
        l -> l.contains("b-4") ? l.replace("\"version\":3,\"shown\":\"0 at 3\"", old) : l);
    cutOff.add("{\"window\":\"q\",\"from\":50,\"to\":1500,\"lag\":60000}");
    assertEquals(List.of(), check(cutOff.stream()));
  }

  @Test
  void aProcessThatGoesBackIsStale() {
    assertFound(
        with(
            "{\"id\":\"b-9\",\"process\":\"q\",\"kind\":\"READ\",\"subject\":\"train\","
                + "\"invoked\":2002,\"completed\":2003,\"outcome\":\"ACKNOWLEDGED\",\"version\":2,"
                + "\"shown\":\"16 at 3\"}"),
        HistoryViolation.Kind.STALE,
        "b-9",
        "b-4");
  }

  @Test
  void twoAcknowledgedForOneVersionAreFound() {
    assertFound(
        changed("b-1", "\"REFUSED\"", "\"ACKNOWLEDGED\",\"version\":1"),
        HistoryViolation.Kind.DOUBLED,
        "a-1",
        "b-1");
  }

  @Test
  void aWriteBeforeOneThatWasOverWhenItBeganIsOutOfOrder() {
    assertFound(
        changed("a-1", "\"invoked\":10,\"completed\":20", "\"invoked\":90,\"completed\":95"),
        HistoryViolation.Kind.OUT_OF_ORDER,
        "a-1",
        "a-3");
  }

  @Test
  void aRefusedWriteThatIsStoredIsFound() {
    assertFound(
        changed("b-3", "\"UNKNOWN\"", "\"REFUSED\",\"shown\":\"overloaded\""),
        HistoryViolation.Kind.UNASKED,
        "b-3",
        "version 2");
  }

  @Test
  void aWriteThatNobodySentIsFound() {
    assertFound(without("b-3"), HistoryViolation.Kind.UNASKED, "16 at 3", "nobody sent");
  }

  @Test
  void aSecondRowAndAMissingOneAreFound() {
    assertFound(
        with("{\"row\":\"WRITE\",\"subject\":\"train\",\"version\":1,\"what\":\"8 at 2\"}"),
        HistoryViolation.Kind.DOUBLED,
        "a-1");
    assertFound(
        without("\"row\":\"WRITE\",\"subject\":\"train\",\"version\":1"),
        HistoryViolation.Kind.LOST,
        "a-1");
  }

  @Test
  void whatWasNotSentIsFoundInReadsAndRows() {
    assertFound(changed("a-2", "8 at 2", "8 at 9"), HistoryViolation.Kind.ALTERED, "a-2", "a-1");
    assertFound(changed("\"row\"", "0 at 3", "8 at 3"), HistoryViolation.Kind.ALTERED, "a-3");
  }

  @Test
  void aRefusalWithoutACauseIsFound() {
    assertFound(
        with(
            "{\"id\":\"a-9\",\"process\":\"p\",\"kind\":\"WRITE\",\"subject\":\"train\","
                + "\"invoked\":2002,\"completed\":2003,\"expected\":3,\"sent\":\"8 at 8\","
                + "\"outcome\":\"REFUSED\",\"shown\":\"version-mismatch\"}"),
        HistoryViolation.Kind.REFUSED_WITHOUT_CAUSE,
        "a-9");
  }

  @Test
  void membersThatAreMissedKeptOrDoubledAreFound() {
    assertFound(changed("a-5", "\"k1\"", "\"\""), HistoryViolation.Kind.STALE, "a-5", "a-4");
    assertFound(changed("b-6", "absent", "present"), HistoryViolation.Kind.STALE, "b-6", "a-6");
    assertFound(changed("a-5", "\"k1\"", "\"k1 k7\""), HistoryViolation.Kind.UNASKED, "a-5", "k7");
    assertFound(without("\"row\":\"REMOVE\""), HistoryViolation.Kind.LOST, "a-6");
    assertFound(
        with("{\"row\":\"ADD\",\"subject\":\"keys\",\"version\":0,\"what\":\"k2\"}"),
        HistoryViolation.Kind.DOUBLED,
        "b-7");
    assertFound(changed("\"set\"", "k2", "k1"), HistoryViolation.Kind.UNASKED, "k1", "a-4");
  }
}
