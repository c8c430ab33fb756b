// Prints the rows of each Parquet file that it is given, a file a line, as JSON.
// Numbers are written as text: JavaScript's own are not exact beyond 2^53.
import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } from 'hyparquet'
import { compressors } from 'hyparquet-compressors'

// A decoder of its own: the default one drops a byte order mark and lets wrong UTF-8 pass.
const utf8 = new TextDecoder('utf-8', { ignoreBOM: true, fatal: true })
const parsers = {
  timestampFromMilliseconds: (ms) => ms,
  stringFromBytes: (bytes) => bytes && utf8.decode(bytes),
}
for (const name of process.argv.slice(2)) {
  const file = await asyncBufferFromFile(name)
  const metadata = await parquetMetadataAsync(file, { parsers })
  const rows = await parquetReadObjects({ file, metadata, compressors, parsers })
  console.log(JSON.stringify({
    rowGroups: metadata.row_groups.length,
    rows: rows.map((row) => [
      String(row.window_start), String(row.window_end), row.course_id,
      String(row.events), String(row.distinct_event_ids),
    ]),
  }))
}
