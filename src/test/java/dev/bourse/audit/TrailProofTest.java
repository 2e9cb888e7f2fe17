package dev.bourse.audit;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.audit.TrailProof.ProvenChain;
import io.vertx.core.json.JsonObject;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Exported batches that verify, and those that fail verification. */
@Tag("fast")
class TrailProofTest {
  private static final int ROWS = 5;

  private final SampleBatches writes = new SampleBatches(1, "acme", false);
  private final List<List<String>> files = new ArrayList<>();

  private static List<String> lines(SealedBatch batch) {
    return new ArrayList<>(batch.lines().toString().lines().toList());
  }

  private void three() {
    for (int i = 0; i < 3; i++) {
      files.add(lines(writes.next(ROWS)));
    }
  }

  private List<ProvenChain> proven() throws TrailProof.UnsoundTrailException {
    TrailProof proof = new TrailProof();
    for (int file = 0; file < files.size(); file++) {
      List<String> lines = files.get(file);
      for (int i = 0; i < lines.size(); i++) {
        proof.line("f" + file, i + 1, lines.get(i));
      }
      proof.end("f" + file, lines.size());
    }
    return proof.chains();
  }

  private void unsound(String where, String what) {
    TrailProof.UnsoundTrailException unsound =
        assertThrows(TrailProof.UnsoundTrailException.class, this::proven);
    String message = String.valueOf(unsound.getMessage());
    assertTrue(message.startsWith(where + ": ") && message.contains(what), message);
  }

  @Test
  void anyRowIsReadBackFromItsEventWithTheSameDigest() {
    Random random = new Random(7);
    for (int i = 0; i < 2_000; i++) {
      RecordedRow row = SampleBatches.row(random, random.nextLong(), "acme", random.nextBoolean());
      String line = OcsfRow.of(row).encode();
      assertEquals(-1, line.indexOf('\n'));
      RecordedRow read = OcsfRow.parse(new JsonObject(line));
      assertEquals(row, read);
      assertArrayEquals(RowDigests.of(row), RowDigests.of(read));
    }
  }

  @Test
  void anEventHasWhatItsClassDemands() {
    JsonObject event =
        OcsfRow.of(
            new RecordedRow(7, 8, "acme", "member:ann", "webhook_add", "acme", "d", false, false));
    assertEquals(6003, event.getInteger("class_uid"));
    assertEquals(6, event.getInteger("category_uid"));
    assertEquals(1, event.getInteger("activity_id"));
    assertEquals(600301, event.getInteger("type_uid"));
    assertEquals(1, event.getInteger("severity_id"));
    assertEquals(8, event.getLong("time"));
    assertEquals("1.1.0", event.getJsonObject("metadata").getString("version"));
    assertEquals(
        "Bourse",
        event.getJsonObject("metadata").getJsonObject("product").getString("vendor_name"));
    assertEquals("member:ann", event.getJsonObject("actor").getJsonObject("user").getString("uid"));
    assertEquals("webhook_add", event.getJsonObject("api").getString("operation"));
    assertEquals("not recorded", event.getJsonObject("src_endpoint").getString("name"));
  }

  @Test
  void batchesInAnyOrderOfFilesAreOneChain() throws Exception {
    three();
    SampleBatches reads = new SampleBatches(2, "acme", true);
    files.add(lines(reads.next(Seal.MAX_ROWS)));
    Collections.shuffle(files, new Random(3));
    List<ProvenChain> chains = proven();
    assertEquals(List.of("writes", "reads"), chains.stream().map(ProvenChain::name).toList());
    assertEquals(3, chains.get(0).batches());
    assertEquals(3 * ROWS, chains.get(0).rows());
    assertEquals(1, chains.get(0).firstBatch());
    assertEquals(64, chains.get(0).head().length());
    assertEquals(Seal.MAX_ROWS, chains.get(1).rows());
  }

  @Test
  void severalBatchesMayBeInOneFileAndOneTwice() throws Exception {
    three();
    List<String> all = new ArrayList<>(files.get(0));
    all.addAll(files.get(1));
    files.add(all);
    assertEquals(3 * ROWS, proven().get(0).rows());
  }

  @Test
  void aPurgedBatchIsProvenByItsSeal() throws Exception {
    files.add(lines(writes.nextPurged(ROWS)));
    files.add(lines(writes.next(ROWS)));
    ProvenChain chain = proven().get(0);
    assertEquals(1, chain.purgedBatches());
    assertEquals("1", chain.purged());
    assertEquals(ROWS, chain.rows());
    assertEquals(1, files.get(0).size());
  }

  @Test
  void aChainThatBeginsLaterSaysSo() throws Exception {
    three();
    files.remove(0);
    assertEquals(2, proven().get(0).firstBatch());
  }

  @Test
  void aChangedRowIsNamed() {
    three();
    JsonObject event = new JsonObject(files.get(1).get(2));
    files.get(1).set(2, event.put("message", event.getString("message") + "x").encode());
    unsound("f1:3", "differs from its seal");
  }

  @Test
  void whatFollowsFromTheRowCannotBeChangedEither() {
    three();
    JsonObject event = new JsonObject(files.get(1).get(0));
    files.get(1).set(0, event.put("severity", "Fatal").encode());
    unsound("f1:1", "differs from its seal");
  }

  @Test
  void aRowThatWasMadeAnewWithItsDigestIsFoundAtTheSeal() {
    three();
    RecordedRow row = OcsfRow.parse(new JsonObject(files.get(1).get(2)));
    RecordedRow other =
        new RecordedRow(
            row.id(),
            row.atMillis(),
            "acme",
            "member:mallory",
            row.action(),
            row.subject(),
            row.detail(),
            false,
            false);
    files.get(1).set(2, OcsfRow.of(other).encode());
    unsound("f1:6", "a row was changed, removed or added");
  }

  @Test
  void aRemovedRowIsMissed() {
    three();
    files.get(1).remove(1);
    unsound("f1:5", "a row was changed, removed or added");
  }

  @Test
  void twoRowsInAnotherOrderAreRefused() {
    three();
    Collections.swap(files.get(1), 1, 2);
    unsound("f1:3", "does not follow");
  }

  @Test
  void aRemovedFileInTheMiddleIsMissed() {
    three();
    files.remove(1);
    unsound("f1:6", "batch 2 is missing");
  }

  @Test
  void sealsInEachOthersPlaceAreRefused() {
    three();
    String first = files.get(0).set(ROWS, files.get(1).get(ROWS));
    files.get(1).set(ROWS, first);
    unsound("f0:6", "the rows before it differ from those of batch 2");
  }

  @Test
  void aSealThatWasMadeAnewDoesNotLinkToTheNext() {
    three();
    // Another history of the same organization, sound in itself.
    files.set(1, lines(secondOf(new SampleBatches(9, "acme", false))));
    unsound("f1:6", "does not follow from batch 1 in f0:6");
  }

  private static SealedBatch secondOf(SampleBatches other) {
    other.next(ROWS);
    return other.next(ROWS);
  }

  @Test
  void twoSealsOfOneBatchAreRefused() {
    three();
    files.add(lines(new SampleBatches(9, "acme", false).next(ROWS)));
    unsound("f3:6", "differs from the one in f0:6");
  }

  @Test
  void aSealWhoseValuesAreChangedIsRefused() {
    three();
    JsonObject seal = new JsonObject(files.get(1).get(ROWS));
    seal.getJsonObject("unmapped").put("newest_at", 1L);
    files.get(1).set(ROWS, seal.encode());
    unsound("f1:6", "does not match its values");
  }

  @Test
  void anotherOrganizationsFileIsRefused() {
    three();
    files.add(lines(new SampleBatches(4, "globex", false).next(ROWS)));
    unsound("f3:1", "organization 'globex'");
  }

  @Test
  void aFileThatEndsBeforeItsSealIsRefused() {
    three();
    files.get(2).remove(ROWS);
    unsound("f2:5", "ends before the seal");
  }

  @Test
  void whatIsNoEventIsRefused() {
    for (String line :
        List.of("nonsense", "[]", "{}", "{\"class_uid\":0}", "{\"class_uid\":6003}")) {
      files.clear();
      files.add(List.of(line));
      unsound("f0:1", "it is not");
    }
  }

  @Test
  void batchesWithoutRowsAreNamedByTheirRanges() throws Exception {
    for (boolean isKept : new boolean[] {false, false, false, true, false, true}) {
      files.add(lines(isKept ? writes.next(ROWS) : writes.nextPurged(ROWS)));
    }
    assertEquals("1-3, 5", proven().get(0).purged());
  }

  @Test
  void aNumberThatIsCutToWhatFitsIsRefused() {
    three();
    String line = files.get(1).get(0);
    long time = new JsonObject(line).getLong("time");
    BigInteger other = BigInteger.ONE.shiftLeft(Long.SIZE).add(BigInteger.valueOf(time));
    files.get(1).set(0, line.replace("\"time\":" + time, "\"time\":" + other));
    unsound("f1:1", "");
  }

  @Test
  void aNameThatStandsTwiceInARowOrASealIsRefused() {
    for (int at : new int[] {0, ROWS}) {
      files.clear();
      files.add(lines(new SampleBatches(1, "acme", false).next(ROWS)));
      files.get(0).set(at, "{\"message\":\"another\"," + files.get(0).get(at).substring(1));
      unsound("f0:" + (at + 1), "it differs from the line");
    }
  }

  @Test
  void aKeptSealOfNoRowsIsRefused() {
    Chain chain = new Chain("acme", false);
    RowDigests none = new RowDigests.Gathered().all();
    Seal seal = new Seal(chain, 1, 0, 0, 0, 0, none, "", 1, null);
    Seal sealed = new Seal(chain, 1, 0, 0, 0, 0, none, seal.expected(""), 1, null);
    files.add(List.of(new OcsfSeal(sealed, "").json().encode()));
    unsound("f0:1", "the rows before it differ from those of batch 1");
  }

  @Test
  void aFormOfALaterReleaseIsNotGuessedAt() {
    three();
    JsonObject event = new JsonObject(files.get(0).get(0));
    event.getJsonObject("metadata").put("log_version", "2");
    files.get(0).set(0, event.encode());
    unsound("f0:1", "use a newer release");
  }
}
