"""Small files of expression data: two genes as rows, three samples as columns."""

GCT2 = "#1.2\n2\t3\nName\tDescription\ts1\ts2\ts3\ng1\tone\t1\t2\t3\ng2\ttwo\t4\t5.5\tNA\n"
GCT3 = (
    "#1.3\n2\t3\t1\t2\nid\ttitle\ts1\ts2\ts3\nage\tna\t50\t60\t70\nill\tna\tyes\tno\t\n"
    "g1\tone\t1\t2\t3\ng2\ttwo\t4\t5.5\tNA\n"
)
GEO = (
    '!Series_title\t"A study"\n!Series_summary\t"of 3, samples"\n\n!Sample_title\t"one"\t"two"\t"three"\n'
    '!Sample_characteristics_ch1\t"tissue: liver"\t"tissue: lung"\t"age: 5"\n'
    '!Sample_characteristics_ch1\t"age: 3"\t"age: 4"\t"tissue: liver"\n!series_matrix_table_begin\n'
    '"ID_REF"\t"s1"\t"s2"\t"s3"\n"g1"\t1\t2\t3\n"g2"\t4\t5.5\tnull\n!series_matrix_table_end\n'
)
