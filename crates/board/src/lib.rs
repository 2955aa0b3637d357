//! A folder of public runs in; the pages of a site out.
