package dev.bourse.app.commands;

import dev.bourse.store.transfer.TableSum;
import java.io.PrintWriter;
import java.util.List;

/** Prints the sums of a store's tables, for comparison by people. */
record SumTable(PrintWriter out) {

  void print(List<TableSum> sums) {
    int width = sums.stream().mapToInt(sum -> sum.table().length()).max().orElse(0);
    String line = "%-" + Math.max(width, "total".length()) + "s  %12s  %s%n";
    out.printf(line, "table", "rows", "sha256");
    for (TableSum sum : sums) {
      out.printf(line, sum.table(), sum.rows(), sum.sha256());
    }
    long total = sums.stream().mapToLong(TableSum::rows).sum();
    out.println(line.formatted("total", total, "").stripTrailing());
    out.flush();
  }
}
