package dev.bourse.audit;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Sealed batches of made-up rows, in their exported form. */
public final class SampleBatches {
  private static final List<String> ACTORS =
      List.of("token:8xLzXSrMCMyx", "member:alice", "operator:root", "system:market", "nobody", "");

  private static final List<String> ACTIONS =
      List.of("vm_capacity_put", "webhook_add", "vm_key_revoke", "member_join", "odd", "");

  private final Random random;
  private final String orgId;
  private final boolean isRead;
  private Seal.Link link = Seal.Link.BEGINNING;
  private long id;

  public SampleBatches(long seed, String orgId, boolean isRead) {
    this.random = new Random(seed);
    this.orgId = orgId;
    this.isRead = isRead;
  }

  static RecordedRow row(Random random, long id, String orgId, boolean isRead) {
    return new RecordedRow(
        id,
        1_700_000_000_000L + random.nextInt(1_000_000),
        orgId,
        ACTORS.get(random.nextInt(ACTORS.size())),
        ACTIONS.get(random.nextInt(ACTIONS.size())),
        text(random),
        text(random),
        isRead,
        false);
  }

  /** Arbitrary texts: quotes, control characters, line ends, and characters of four bytes. */
  private static String text(Random random) {
    StringBuilder text = new StringBuilder();
    random
        .ints(random.nextInt(30), 0, 5)
        .forEach(
            kind ->
                text.appendCodePoint(
                    switch (kind) {
                      case 0 -> random.nextInt(0x20);
                      case 1 -> "\"\\/{}\u2028\u2029\u0085\u007f".charAt(random.nextInt(9));
                      case 2 -> 0x1F300 + random.nextInt(0x100);
                      case 3 -> 0x80 + random.nextInt(0x700);
                      default -> 'a' + random.nextInt(26);
                    }));
    return text.toString();
  }

  /** The next batch of the chain. */
  public SealedBatch next(int rows) {
    return next(rows, false);
  }

  /** The next batch of the chain, of which only the seal is left. */
  public SealedBatch nextPurged(int rows) {
    return next(rows, true);
  }

  private SealedBatch next(int count, boolean isPurged) {
    List<RecordedRow> rows = new ArrayList<>();
    RowDigests.Gathered gathered = new RowDigests.Gathered();
    long newest = 0;
    for (int i = 0; i < count; i++) {
      id += 1 + random.nextInt(9);
      RecordedRow row = row(random, id, orgId, isRead);
      rows.add(row);
      gathered.add(row.id(), RowDigests.of(row));
      newest = Math.max(newest, row.atMillis());
    }
    String previous = link.seal();
    Seal sealed =
        Seal.sealing(
            new Chain(orgId, isRead), link, gathered.all(), newest, 1_700_000_000_000L + id);
    link = sealed.link();
    return isPurged
        ? SealedBatch.of(
            new OcsfSeal(
                new Seal(
                    sealed.chain(),
                    sealed.batch(),
                    sealed.firstId(),
                    sealed.lastId(),
                    sealed.rowCount(),
                    sealed.newestAtMillis(),
                    sealed.rows().withoutRows(),
                    sealed.seal(),
                    sealed.sealedAtMillis(),
                    1L),
                previous),
            List.of())
        : SealedBatch.of(new OcsfSeal(sealed, previous), rows);
  }
}
